// JSON as it was written: numbers with all their digits, names in their order. Knows nothing of a page.

// What is longer is shown as it stands.
const LONGEST = 2000000;
const DEEPEST = 200;

const PART = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/gy;

// The value as a tree of {open, children, name, text, from, to}: texts are those of the source. `lines` is how many lines a
// value takes when it is written out. Null for what is no JSON, or too long or too deep to be laid out.
export function tree(source) {
  if (source.length > LONGEST) return null;
  try { JSON.parse(source); } catch { return null; }
  const root = { children: [] };
  const open = [root];
  let name = null;
  let expects = null;
  PART.lastIndex = 0;
  for (let found = PART.exec(source); found; found = PART.exec(source)) {
    const part = found[1];
    const inner = open[open.length - 1];
    if (part === "," || part === ":") {
      if (part === ":") [name, expects] = [expects, null];
    } else if (part === "}" || part === "]") {
      const done = open.pop();
      done.to = PART.lastIndex;
      done.lines = done.children.length ? done.children.reduce((sum, child) => sum + child.lines, 2) : 1;
    } else if (inner.open === "{" && name === null) {
      expects = part;
    } else {
      const node = { name, text: part, lines: 1, from: PART.lastIndex - part.length, to: PART.lastIndex };
      name = null;
      inner.children.push(node);
      if (part === "{" || part === "[") {
        Object.assign(node, { open: part, children: [] });
        open.push(node);
        if (open.length > DEEPEST) return null;
      }
    }
  }
  return root.children[0] || null;
}

// The member of an object.
export function member(node, name) {
  const wanted = JSON.stringify(name);
  return node?.open === "{" ? node.children.find((child) => child.name === wanted || JSON.parse(child.name) === name) : undefined;
}

// What a value holds, in a few words.
export function summary(node) {
  const count = node.children.length;
  const what = node.open === "{" ? "member" : "element";
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

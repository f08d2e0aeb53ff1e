// Columns and panes that are made wider, by pointer or by arrow keys.
const STEP = 16;

// Widths are properties of the root, which the style sheet uses; `--col-` of columns, `--pane-` of panes.
export function splitter(node, changed) {
  const { of: name, min, max } = node.dataset;
  const isRow = node.getAttribute("aria-orientation") === "horizontal";
  const sign = node.dataset.grows === "back" ? -1 : 1;
  const root = document.documentElement;
  const now = () => parseFloat(getComputedStyle(root).getPropertyValue(name)) || 0;
  const set = (value) => {
    const bounded = Math.round(Math.min(Math.max(value, Number(min)), Number(max)));
    root.style.setProperty(name, `${bounded}px`);
    node.setAttribute("aria-valuenow", String(bounded));
    changed();
  };
  node.setAttribute("aria-valuemin", min);
  node.setAttribute("aria-valuemax", max);
  node.setAttribute("aria-valuenow", String(now()));
  let began = null;
  node.addEventListener("pointerdown", (event) => {
    began = { at: isRow ? event.clientY : event.clientX, value: now() };
    node.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (began) set(began.value + sign * ((isRow ? event.clientY : event.clientX) - began.at));
  });
  node.addEventListener("pointerup", () => { began = null; });
  node.addEventListener("keydown", (event) => {
    const by = { ArrowRight: STEP, ArrowDown: STEP, ArrowLeft: -STEP, ArrowUp: -STEP }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(now() + sign * by);
  });
}

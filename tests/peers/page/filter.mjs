// The filter of the page over the cases of the filter of the command line.
import { readFileSync } from "node:fs";
import { load } from "./modules.mjs";

const read = (path) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const { filter } = await load("filter");
const { subjects, cases, wrong } = JSON.parse(read("schemas/src/filter/cases.json"));

const problems = [];
for (const one of cases) {
  const is = filter(one.filter);
  const found = Object.entries(subjects).filter(([, subject]) => is(subject)).map(([name]) => name);
  if (found.sort().join() !== [...one.matches].sort().join()) {
    problems.push(`${JSON.stringify(one.filter)} matches ${found.join(", ")}`);
  }
}
for (const word of wrong) {
  try {
    filter([word]);
    problems.push(`${JSON.stringify(word)} is taken`);
  } catch (error) {
    if (!error.message) problems.push(`${word}: no reason`);
  }
}
console.log(problems.length ? problems.join("\n") : `${cases.length} filters and ${wrong.length} mistakes are the same`);
process.exitCode = problems.length ? 1 : 0;

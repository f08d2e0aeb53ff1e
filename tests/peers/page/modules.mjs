// The modules of the page for Node: it takes files named `.js` for modules only beside a package.json that says so.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const source = fileURLToPath(new URL("../../../src/report/page", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "page-modules-"));
for (const name of readdirSync(source).filter((one) => one.endsWith(".js"))) cpSync(join(source, name), join(folder, name));
writeFileSync(join(folder, "package.json"), "{\"type\":\"module\"}");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const load = (name) => import(pathToFileURL(join(folder, `${name}.js`)).href);

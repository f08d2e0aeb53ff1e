// Pictures of the page for README and docs, light and dark. Whoever changes the page runs this and looks at them.
// Usage: screenshots.mjs TAPEWRIGHT [FOLDER [CHROMIUM]]
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { exporter, launch, open } from "./browser.mjs";
import { day, missed } from "./tapes.mjs";

const images = fileURLToPath(new URL("../../../docs/images", import.meta.url));
const [tapewright, folder = images, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const files = exporter(tapewright);
const browser = await launch(browserPath);
const [today, replayed] = [files.write("files", day()), files.write("replayed", missed())];
const viewport = { width: 1200, height: 720 };

async function shoot(file, name, colorScheme, ...keys) {
  const page = await open(browser, file, { colorScheme, viewport, problem: (what) => console.error(what) });
  for (const key of keys) await page.keyboard.press(key);
  await page.waitForTimeout(600);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}

for (const colorScheme of ["light", "dark"]) await shoot(today, `page-${colorScheme}`, colorScheme, "G", "k", "k");
await shoot(replayed, "page-drift", "light", "g");
await browser.close();
files.done();
console.log(`pictures are in ${folder}: look at them`);

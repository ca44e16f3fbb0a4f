// node check.js PAGE…: each page through the Nu Html Checker (needs java) and axe-core, without a browser and without the network.
// Contrast is checked by tool/report/tests/html.rs, since axe-core needs a browser's layout for it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import axe from "axe-core";
import { JSDOM } from "jsdom";

const pages = process.argv.slice(2);
if (pages.length === 0) throw new Error("no page was named");
const jar = createRequire(import.meta.url).resolve("vnu-jar/build/dist/vnu.jar");
// The checker does not know this property of SVG 2, which every browser has.
const unknown = ".*paint-order.*";
execFileSync("java", ["-jar", jar, "--Werror", "--filterpattern", unknown, ...pages], { stdio: "inherit" });

let complaints = 0;
for (const page of pages) {
  const { window } = new JSDOM(readFileSync(page, "utf8"), { runScripts: "outside-only", pretendToBeVisual: true });
  window.eval(axe.source);
  const { violations, passes } = await window.axe.run(window.document, { rules: { "color-contrast": { enabled: false } } });
  if (passes.length < 10) throw new Error(`${page}: only ${passes.length} rules had anything to check`);
  for (const { id, help, nodes } of violations) {
    complaints += 1;
    console.log(`${page}: ${id}: ${help}\n  ${nodes.map((node) => node.html).slice(0, 3).join("\n  ")}`);
  }
  window.close();
}
console.log(`${pages.length} pages, ${complaints} complaints`);
process.exit(complaints === 0 ? 0 : 1);

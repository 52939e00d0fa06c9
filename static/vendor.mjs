// Copies the third-party browser files that Docent serves into static/vendor, and
// those that only its tests use to where the tests are.
//
//   node static/vendor.mjs
//
// Every package is pinned and fetched by npm into a temporary folder, so the
// repository needs no package.json. Run it again after changing a version, then
// review the diff: the copied files are part of the tree.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

const packages = [
  {
    name: "htmx.org",
    version: "4.0.1",
    into: "htmx",
    files: ["dist/htmx.min.js", "dist/ext/hx-sse.min.js"],
  },
  {
    name: "@fontsource-variable/noto-sans",
    version: "5.3.0",
    into: "fonts",
    files: [
      "files/noto-sans-latin-wght-normal.woff2",
      "files/noto-sans-latin-wght-italic.woff2",
      "files/noto-sans-latin-ext-wght-normal.woff2",
      "files/noto-sans-latin-ext-wght-italic.woff2",
    ],
  },
  {
    name: "@fontsource-variable/noto-sans-mono",
    version: "5.3.0",
    into: "fonts",
    files: [
      "files/noto-sans-mono-latin-wght-normal.woff2",
      "files/noto-sans-mono-latin-ext-wght-normal.woff2",
    ],
  },
  {
    name: "@fontsource/newsreader",
    version: "5.3.0",
    into: "fonts",
    files: ["files/newsreader-latin-600-normal.woff2", "files/newsreader-latin-ext-600-normal.woff2"],
  },
  {
    name: "@fontsource/noto-sans-arabic",
    version: "5.3.0",
    into: "fonts",
    files: [
      "files/noto-sans-arabic-arabic-400-normal.woff2",
      "files/noto-sans-arabic-arabic-600-normal.woff2",
    ],
  },
  {
    name: "@fontsource/noto-naskh-arabic",
    version: "5.3.0",
    into: "fonts",
    files: ["files/noto-naskh-arabic-arabic-600-normal.woff2"],
  },
];

// Never served, nor part of the program.
const forTests = [
  {
    name: "axe-core",
    version: "4.14.1",
    into: "../cmd/docent/testdata/axe",
    files: ["axe.min.js"],
  },
];

const work = mkdtempSync(join(tmpdir(), "docent-vendor-"));
try {
  writeFileSync(join(work, "package.json"), "{}");
  execFileSync(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...[...packages, ...forTests].map((p) => `${p.name}@${p.version}`)],
    { cwd: work, stdio: "inherit" },
  );

  // Returns the name of the copy of the licence.
  const copyPackage = (p, to) => {
    const from = join(work, "node_modules", p.name);
    mkdirSync(to, { recursive: true });
    for (const file of p.files) copyFileSync(join(from, file), join(to, basename(file)));
    const licence = `LICENSE-${p.name.replace(/^@/, "").replace("/", "-")}.txt`;
    copyFileSync(join(from, "LICENSE"), join(to, licence));
    return licence;
  };

  const rows = [];
  rmSync(join(here, "vendor"), { recursive: true, force: true });
  for (const p of forTests) copyPackage(p, join(here, p.into));
  for (const p of packages) {
    const licence = copyPackage(p, join(here, "vendor", p.into));
    const from = join(work, "node_modules", p.name);
    const { license } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
    rows.push(`| [${p.name}](https://www.npmjs.com/package/${p.name}) | ${p.version} | ${license} | [text](vendor/${p.into}/${licence}) |`);
  }
  writeFileSync(
    join(here, "THIRD-PARTY.md"),
    [
      "# Third-party browser files",
      "",
      "Written by `vendor.mjs`; change versions there. The copies are unmodified.",
      "",
      "| Package | Version | Licence | |",
      "|---|---|---|---|",
      ...rows,
      "",
    ].join("\n"),
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Shrinkwrap } from "./shrinkwrap.ts";

/** A package whose code is inside the bundles. */
export interface BundledPackage {
  name: string;
  version: string;
  license: string;
  /** The text of its licence; undefined when it ships none. */
  text: string | undefined;
}

/** Reads what packages say of themselves. `folder` is the `node_modules` that they were bundled from. */
export function readPackages(names: readonly string[], folder: string): BundledPackage[] {
  return names.map((name) => {
    const dir = join(folder, name);
    const { version, license = "UNKNOWN" } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as {
      version: string;
      license?: string;
    };
    const file = readdirSync(dir).find((entry) => /^(?:licen[cs]e|copying)(?:\.|$)/iu.test(entry));
    return {
      name,
      version,
      license,
      text: file === undefined ? undefined : readFileSync(join(dir, file), "utf8").trim(),
    };
  });
}

/** The licences of all that is inside the bundles, as most of them ask for. */
export function makeNotices(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, license, text = "The package ships no licence text." }) =>
    [`## ${name} ${version} (${license})`, text].join("\n\n"),
  );
  return `${["# Third-party notices", "The program files in `dist` contain code of these packages.", ...parts].join("\n\n")}\n`;
}

/** A CycloneDX 1.6 document without a time or serial number, so that equal builds have equal files. */
export function makeBillOfMaterials(
  kb: { name: string; version: string },
  bundled: readonly BundledPackage[],
  { packages }: Shrinkwrap,
): object {
  const installed = Object.entries(packages)
    .filter(([place]) => place !== "")
    .map(([place, { version, license }]) => ({
      name: place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
      license: typeof license === "string" ? license : "UNKNOWN",
    }));
  const components = new Map(
    [...bundled, ...installed].map(({ name, version, license }) => {
      const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
      return [purl, { type: "library", "bom-ref": purl, name, version, purl, licenses: [{ expression: license }] }];
    }),
  );
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    metadata: { component: { type: "application", "bom-ref": "kb", ...kb } },
    components: [...components.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1)),
  };
}

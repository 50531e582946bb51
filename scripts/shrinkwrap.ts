/** One package of a lock file, as far as it is used here. */
interface Locked {
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  dev?: boolean;
  devOptional?: boolean;
  [member: string]: unknown;
}

/** A lock file by the places of its packages: `node_modules/a/node_modules/b`. */
export interface Lock {
  packages: Record<string, Locked>;
}

interface Root extends Locked {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

export interface Shrinkwrap extends Lock {
  name: string;
  version: string;
  lockfileVersion: 3;
  requires: true;
}

/**
 * The part of a lock file that an installation of `root` needs: without it every installation would choose newer versions
 * of what its packages need themselves.
 *
 * @throws Error for a package that the lock file doesn't have
 */
export function makeShrinkwrap(root: Root, lock: Lock): Shrinkwrap {
  const places = new Set<string>();
  const waiting: [place: string, needs: Locked][] = [["", root]];
  for (const [place, needs] of waiting) {
    for (const [name, isOptional] of needsOf(needs)) {
      const found = findPlace(place, name, lock);
      if (found === undefined) {
        if (isOptional) continue;
        throw new Error(`package-lock.json has no ${name} for ${place || "kb itself"}.`);
      }
      if (places.has(found)) continue;
      places.add(found);
      waiting.push([found, lock.packages[found] ?? { version: "" }]);
    }
  }
  const { name, version } = root;
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": root,
      ...Object.fromEntries([...places].toSorted().map((place) => [place, withoutMarks(lock.packages[place])])),
    },
  };
}

/** Names that a package needs, and whether it can do without. */
function needsOf({
  dependencies,
  optionalDependencies,
  peerDependencies,
  peerDependenciesMeta,
}: Locked): Map<string, boolean> {
  const peers = Object.keys(peerDependencies ?? {});
  return new Map([
    ...peers.map((name) => [name, peerDependenciesMeta?.[name]?.optional === true] as const),
    ...Object.keys(dependencies ?? {}).map((name) => [name, false] as const),
    ...Object.keys(optionalDependencies ?? {}).map((name) => [name, true] as const),
  ]);
}

/** Where Node finds a package from a place: the nearest `node_modules` that has it. */
function findPlace(from: string, name: string, { packages }: Lock): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    const place = `${at === "" ? "" : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === "") return undefined;
  }
}

/** What only development needed is needed here. */
function withoutMarks(locked: Locked | undefined): Locked {
  const { dev: _dev, devOptional: _devOptional, ...kept } = locked ?? { version: "" };
  return kept;
}

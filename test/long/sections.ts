/**
 * Do hits name the right section? `npx tsx test/long/sections.ts ROOT` (after `npm run build`) indexes a folder with the
 * documentation of git, PostgreSQL and Debian's policy (packages git-doc, postgresql-doc-15, debian-policy unpacked), asks 50
 * questions with the words of their answers, and looks whether the section that a hit among the first three names, read alone,
 * holds those words. Then times reads of a document of 20 MB. Exit code 1 when a question fails.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signIn, startServer, syncFolder } from "../bench/server.ts";

/** A question and words that stand together in the section that answers it. */
const QUESTIONS: readonly [question: string, ...answer: string[]][] = [
  ["git rebase autosquash fixup commits", "autosquash", "squash!"],
  ["git bisect run script exit code 125", "125", "skip"],
  ["git stash keep-index option", "keep-index"],
  ["git worktree prune expired", "prune", "worktree"],
  ["git blame ignore revs file", "ignore-revs-file"],
  ["git sparse-checkout cone mode", "cone"],
  ["git push force-with-lease", "force-with-lease"],
  ["git commit amend without editing message", "no-edit"],
  ["git log follow renames of a single file", "follow", "renames"],
  ["git cherry-pick mainline parent number", "mainline", "parent-number"],
  ["git merge ours strategy discards", "ours"],
  ["git config includeIf gitdir", "includeIf"],
  ["git fast-import progress command", "progress"],
  ["git credential helper cache timeout", "timeout"],
  ["git submodule update recursive init", "recursive"],
  ["git rerere forget pathspec", "forget"],
  ["git notes merge strategy cat_sort_uniq", "cat_sort_uniq"],
  ["git diff word-diff regex", "word-diff-regex"],
  ["git clone partial filter blob:none", "filter"],
  ["git reflog expire unreachable", "expire-unreachable"],
  ["git archive export-ignore attribute", "export-ignore"],
  ["git attributes eol crlf conversion text auto", "eol"],
  ["git hooks pre-receive standard input old new ref", "pre-receive"],
  ["git daemon access hook", "access-hook"],
  ["git gc auto pack limit", "autoPackLimit"],
  ["postgres vacuum freeze transaction id wraparound", "wraparound"],
  ["postgresql create index concurrently invalid index", "INVALID", "CONCURRENTLY"],
  ["postgresql row security policy using expression", "USING"],
  ["pg_dump custom format compression level", "compress"],
  ["postgresql logical replication publication row filter", "WHERE"],
  ["postgresql window function frame clause rows unbounded preceding", "UNBOUNDED PRECEDING"],
  ["postgresql jsonb containment operator", "@>"],
  ["postgresql autovacuum_vacuum_scale_factor", "autovacuum_vacuum_scale_factor"],
  ["postgresql advisory lock session level", "pg_advisory_lock"],
  ["postgresql full text search ts_rank weights", "ts_rank"],
  ["postgresql partition range attach", "ATTACH PARTITION"],
  ["postgresql with recursive cycle detection", "CYCLE"],
  ["postgresql lateral subquery", "LATERAL"],
  ["postgresql generated columns stored", "GENERATED ALWAYS AS"],
  ["postgresql wal_level replica logical minimal", "wal_level"],
  ["postgresql hba scram-sha-256 authentication method", "scram-sha-256"],
  ["postgresql insert on conflict do update excluded", "excluded"],
  ["postgresql pg_stat_activity wait_event_type", "wait_event_type"],
  ["postgresql listen notify payload 8000 bytes", "8000"],
  ["debian policy maintainer scripts must be idempotent", "idempotent"],
  ["debian policy essential packages", "Essential"],
  ["debian changelog urgency values", "urgency"],
  ["debian policy shared library soname package name", "SONAME"],
  ["debian control file Build-Depends-Indep", "Build-Depends-Indep"],
  ["debian conffile preserve local changes upgrade", "conffile"],
];

/** What stands from a line on has no end of its own. */
const sectionQuery = (section: string) =>
  `section=${encodeURIComponent(section)}${section.startsWith("line ") ? "&limit=6000" : ""}`;
const say = (line: string) => void process.stdout.write(`${line}\n`);

interface Hit {
  kbId: string;
  title: string;
  section: string | null;
}

type Api = ReturnType<typeof makeApi>;

function makeApi(url: string, token: string) {
  const get = async (path: string): Promise<Response> => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    // On a busy machine a search may have to be repeated, as it says itself.
    if (answer.status === 503) return get(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  return {
    async search(query: string): Promise<Hit[]> {
      const answer = await get(`/api/connectors/search?limit=3&query=${encodeURIComponent(query)}`);
      // The route's schema names these.
      return ((await answer.json()) as { results: Hit[] }).results;
    },
    read: async (kbId: string, query: string) => (await get(`/api/connectors/files/${kbId}/content?${query}`)).text(),
  };
}

/** How many questions a section among the first three hits answers. */
async function askAll(api: Api): Promise<number> {
  let good = 0;
  for (const [question, ...answer] of QUESTIONS) {
    const hits = await api.search(question);
    const found = await firstWith(api, hits, answer);
    if (found === undefined) {
      say(
        `NOT ${question}: ${hits.map(({ title, section }) => `${title} › ${section ?? "(no section)"}`).join(" | ")}`,
      );
    } else good++;
  }
  say(`${good} of ${QUESTIONS.length} questions: a section among the first three hits holds the answer's words`);
  return good;
}

async function firstWith(api: Api, hits: readonly Hit[], words: readonly string[]): Promise<Hit | undefined> {
  for (const hit of hits) {
    if (hit.section === null) continue;
    const text = (await api.read(hit.kbId, sectionQuery(hit.section))).toLowerCase();
    if (words.every((word) => text.includes(word.toLowerCase()))) return hit;
  }
  return undefined;
}

const BIG_CHARS = 20 * 1_024 * 1_024;

/** Lines of words, with one rare word near the end. */
function bigText(): string {
  const lines: string[] = [];
  for (let length = 0, n = 0; length < BIG_CHARS; n++) {
    const line = `${n} common words of a long document, line by line, number ${(n * 7_919) % 100_003}.`;
    lines.push(n === 200_000 ? `${line} Here stands the quokka alone.` : line);
    length += line.length + 1;
  }
  return lines.join("\n");
}

async function readBig(api: Api, pid: number): Promise<void> {
  const [hit] = await api.search("quokka alone");
  if (hit === undefined) return say("The document of 20 MB was not found.");
  const reads: [name: string, query: string][] = [
    ["a range of 16,000 in the middle", "offset=2000000&limit=16000"],
    ["a line", "section=L60000&limit=16000"],
    ["find, a rare word", "find=quokka"],
    ["find, a phrase", `find=${encodeURIComponent('"quokka alone"')}`],
    ["find, a common word", "find=document"],
  ];
  for (const [name, query] of reads) {
    const before = rssOf(pid);
    const times: number[] = [];
    for (let i = 0; i < 15; i++) {
      const startedAt = performance.now();
      await api.read(hit.kbId, query);
      times.push(performance.now() - startedAt);
    }
    times.sort((a, b) => a - b);
    const [median = 0, worst = 0] = [times[7], times.at(-1)];
    say(
      `20 MB, ${name}: median ${median.toFixed(1)} ms, slowest ${worst.toFixed(1)} ms, memory +${rssOf(pid) - before} MB`,
    );
  }
}

function rssOf(pid: number): number {
  const line = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(line ?? 0) / 1_024);
}

const [root] = process.argv.slice(2);
if (!root) throw new Error("Usage: sections.ts ROOT");
const dir = mkdtempSync(join(tmpdir(), "kb-sections-"));
try {
  const folder = join(dir, "big");
  mkdirSync(folder);
  writeFileSync(join(folder, "big.txt"), bigText());
  const server = await startServer(dir, [root, folder]);
  try {
    const ask = await signIn(server.url);
    for (const path of [root, folder]) {
      const { counts, seconds } = await syncFolder(ask, path);
      say(`${counts.upserted} items indexed in ${Math.round(seconds)} s`);
    }
    const made = await ask("POST", "/api/api-tokens", { name: "sections", scopes: ["mcp:read"] });
    const api = makeApi(server.url, String(made["plaintext"]));
    const good = await askAll(api);
    await readBig(api, server.child.pid ?? 0);
    process.exitCode = good === QUESTIONS.length ? 0 : 1;
  } finally {
    await server.stop();
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}

import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, test } from "vitest";
import {
  baseUrlOf,
  describeSettings,
  loadSettings,
  readSettings,
  type SettingsInput,
  weakeningSettings,
} from "#server/settings/config.ts";
import { tempDir } from "../../temp-dir.ts";
import { privateHostsOf } from "#server/compose/foundation.ts";

const read = (input: Partial<SettingsInput>) =>
  readSettings({ readSecret: () => "from the file", ...input, env: { HOME: "/home/ana", ...input.env } });

describe("settings", () => {
  test.for([
    [{ flags: { port: "80a" } }, '--port "80a" is not a port (1-65535).'],
    [{ flags: { port: "" } }, '--port "" is not a port (1-65535).'],
    [{ env: { KB_PORT: "65536" } }, 'KB_PORT "65536" is not a port (1-65535).'],
    [{ env: { KB_DRAIN_S: "1.5" } }, 'KB_DRAIN_S "1.5" is not a number of seconds (0-600).'],
    [{ env: { KB_SHUTDOWN_TIMEOUT_S: "soon" } }, 'KB_SHUTDOWN_TIMEOUT_S "soon" is not a number of seconds (0-600).'],
    [{ env: { KB_QUOTAS: "items=many" } }, 'KB_QUOTAS "many" is not a whole number.'],
  ] as const)("a number that is none is said in words: %j", ([given, message], { expect }) => {
    expect(() => read(given)).toThrow(expect.objectContaining({ code: "settings_invalid", message }));
  });

  test("the data folder is open to its group only where that is said", ({ expect }) => {
    const groupOf = (value: string) => read({ env: { KB_DATA_DIR_GROUP: value } }).settings.dataDirGroup;
    expect([groupOf("1"), groupOf("on"), groupOf("0"), groupOf("off")]).toEqual([true, true, false, false]);
    expect(() => groupOf("staff")).toThrow("KB_DATA_DIR_GROUP: Expected 1 or 0.");
  });

  test("have defaults for one process on this machine", ({ expect }) => {
    const { settings, warnings } = read({});
    expect(settings).toEqual({
      host: "127.0.0.1",
      port: 7700,
      dataDirGroup: false,
      drainS: 0,
      allowedHosts: [],
      dataDir: "/home/ana/.local/share/kb",
      mode: "self-hosted",
      signup: "invite",
      localRoots: [],
      allowPrivateHosts: [],
      mcpAuthorizationServers: [],
      instances: [],
      logLevel: "info",
      trustedProxies: [],
      webhookSecrets: {},
      oidcName: "single sign-on",
      oidcDomains: [],
      quotas: {},
      insecureHttp: "off",
      rateLimits: "on",
      durability: "normal",
      shutdownTimeoutS: 20,
      mcpLifecycle: "auto",
      syncMemoryMb: 256,
      keepAliveS: 75,
      oauthClientDocuments: "on",
      oauthAppSchemes: [],
    });
    expect(warnings).toEqual([]);
    expect(baseUrlOf(settings, 8123)).toBe("http://127.0.0.1:8123");
  });

  test("a flag beats the environment, which beats the file", ({ expect }) => {
    const file = {
      name: "server.yaml",
      values: { port: 1, host: "::1", mcp: { lifecycle: "strict" }, localRoots: ["/a"] },
    };
    const { settings } = read({ file, env: { KB_PORT: "2", KB_HOST: "localhost" }, flags: { port: "3" } });
    expect(settings).toMatchObject({ port: 3, host: "localhost", mcpLifecycle: "strict", localRoots: ["/a"] });
  });

  test("a KB_X_FILE names a file with the value", ({ expect }) => {
    const env = { KB_BOOTSTRAP_EMAIL: "a@b", KB_BOOTSTRAP_PASSWORD_FILE: "/run/secrets/password" };
    expect(read({ env }).settings.bootstrapPassword).toBe("from the file");
    expect(() => read({ env: { ...env, KB_BOOTSTRAP_PASSWORD: "x" } })).toThrow(/Both KB_BOOTSTRAP_PASSWORD and/);
  });

  test("secrets of webhooks are named by their source, in the environment and in the file", ({ expect }) => {
    const secret = "0123456789abcdef";
    const fromEnv = read({ env: { KB_GITHUB_WEBHOOK_SECRET: secret, KB_MY_WIKI_WEBHOOK_SECRET: `${secret}2` } });
    expect(fromEnv.settings.webhookSecrets).toEqual({ github: secret, "my-wiki": `${secret}2` });
    const fromFile = read({ file: { name: "server.yaml", values: { webhookSecrets: { github: secret } } } });
    expect(fromFile.settings.webhookSecrets).toEqual({ github: secret });
    const short = () => read({ env: { KB_GITHUB_WEBHOOK_SECRET: "short-one" } });
    expect(short).toThrow("KB_<SOURCE>_WEBHOOK_SECRET: Expected 16 or more characters.");
    expect(() => read({ env: { KB_WEBHOOK_SECRETS: secret } })).toThrow("KB_WEBHOOK_SECRETS is not a setting of kb.");
  });

  test("lists are separated as their kind is", ({ expect }) => {
    const { settings } = read({ env: { KB_LOCAL_ROOTS: "/srv/docs:/data", KB_ALLOWED_HOSTS: "kb.lan, kb.test" } });
    expect(settings).toMatchObject({ localRoots: ["/srv/docs", "/data"], allowedHosts: ["kb.lan", "kb.test"] });
  });

  test.for([
    [{ KB_PROT: "1" }, "KB_PROT is not a setting of kb. Did you mean KB_PORT?"],
    [{ KB_PORT: "99999" }, "KB_PORT"],
    [{ KB_PUBLIC_URL: "https://kb.test/path" }, "KB_PUBLIC_URL: Expected an origin"],
    [{ KB_PUBLIC_URL: "kb.test" }, "KB_PUBLIC_URL: Expected an origin"],
    [{ KB_MODE: "cloud" }, "KB_MODE"],
    [
      { KB_TRUSTED_PROXIES: "10.0.0.1, 10.0.0.0/33" },
      'KB_TRUSTED_PROXIES "10.0.0.0/33" is neither an address nor a range like 10.0.0.0/8.',
    ],
    [{ KB_TRUSTED_PROXIES: "proxy.lan" }, 'KB_TRUSTED_PROXIES "proxy.lan" is neither an address nor a range'],
    [{ KB_METRICS_TOKEN: "x" }, "KB_METRICS_TOKEN belongs to a later version"],
    [{ KB_DATABASE_URL: "postgres://x" }, "KB_DATABASE_URL belongs to a later version of kb. Remove it."],
    [{ KB_OPENSEARCH_URL: "http://x" }, "KB_OPENSEARCH_URL belongs to a later version"],
    [{ KB_ROLE: "worker" }, "KB_ROLE belongs to a later version"],
    [{ KB_RATE_LIMITS: "off", KB_HOST: "0.0.0.0" }, "loopback only"],
    [{ KB_BOOTSTRAP_EMAIL: "a@b" }, "belong together"],
    [{ KB_BOOTSTRAP_EMAIL: "a@b", KB_BOOTSTRAP_PASSWORD: "x", KB_MODE: "managed" }, "not available in managed mode"],
    // The list works only where strangers own no workspace.
    [{ KB_MODE: "managed", KB_ALLOW_PRIVATE_HOSTS: "10.0.0.1:80" }, "not available in managed mode"],
    [{ KB_SIGNUP: "open" }, "KB_SIGNUP=open needs email: without it, sign-up reveals who has an account here."],
    [{ KB_MODE: "managed" }, "In managed mode people sign up themselves, which needs email"],
    [{ KB_SIGNUP: "open", KB_ALLOW_PRIVATE_HOSTS: "10.0.0.1:80" }, "not available on a server with KB_SIGNUP=open"],
  ] as const)("%j is refused in one line", ([env, message], { expect }) => {
    expect(() => read({ env })).toThrow(
      expect.objectContaining({ code: "settings_invalid", message: expect.stringContaining(message) }),
    );
  });

  test("an unknown key of the file is refused with the nearest one", ({ expect }) => {
    const file = { name: "server.yaml", values: { publicURl: "https://kb.test" } };
    expect(() => read({ file })).toThrow(/publicURl in server.yaml is not a setting of kb. Did you mean publicUrl\?/);
  });

  test("each is described, with the default that is used", ({ expect }) => {
    const described = describeSettings();
    expect(described.filter(({ meaning }) => !/^.{20,}\.$/.test(meaning))).toEqual([]);
    const defaults = Object.fromEntries(described.map((setting) => [setting.key, setting.default]));
    expect(defaults).toMatchObject({ port: "7700", host: "127.0.0.1", rateLimits: "on", publicUrl: "", dataDir: "" });
  });

  test("variables of the command line tools are left alone", ({ expect }) => {
    const env = { KB_URL: "x", KB_TOKEN: "y", KB_PROFILE: "z", KB_CONNECTOR_KEY: "k", KB_CONFIG_DIR: "/c" };
    expect(read({ env }).warnings).toEqual([]);
  });

  test.for([
    [{ KB_HOST: "0.0.0.0" }, false],
    [{ KB_HOST: "192.168.1.5", KB_PUBLIC_URL: "http://127.0.0.1:7700" }, false],
    [{ KB_HOST: "0.0.0.0", KB_PUBLIC_URL: "http://kb.lan" }, false],
    [{ KB_PUBLIC_URL: "http://kb.lan" }, false],
    [{ KB_PUBLIC_URL: "http://127.0.0.1.evil.test" }, false],
    [{ KB_HOST: "0.0.0.0", KB_PUBLIC_URL: "https://kb.lan" }, true],
    [{ KB_PUBLIC_URL: "https://kb.lan" }, true],
    [{ KB_PUBLIC_URL: "http://localhost:9000" }, true],
    [{ KB_HOST: "::1", KB_PUBLIC_URL: "http://[::1]:7700" }, true],
    [{}, true],
  ] as const)("S32: %j goes without --insecure-http: %j", ([env, isSafe], { expect }) => {
    if (isSafe) {
      const { settings, warnings } = read({ env });
      expect([warnings, weakeningSettings(settings)]).toEqual([[], []]);
      return;
    }
    expect(() => read({ env })).toThrow(/anyone on the network could read passwords and tokens.*--insecure-http/);
    // Said, it starts, and says so each time.
    const { settings, warnings } = read({ env, flags: { insecureHttp: "on" } });
    expect(warnings[0]).toMatch(/can read passwords and tokens \(--insecure-http\)/);
    expect(weakeningSettings(settings)).toEqual(["insecureHttp"]);
  });

  test("what weakens the installation has a name for the audit", ({ expect }) => {
    const { settings } = read({ env: { KB_ALLOW_PRIVATE_HOSTS: "10.0.0.5:443", KB_RATE_LIMITS: "off" } });
    expect(weakeningSettings(settings)).toEqual(["allowPrivateHosts", "rateLimits"]);
  });

  test("connectors reach the private hosts and the instances that the operator names, and none where strangers are", ({
    expect,
  }) => {
    const KB_INSTANCES = "gitea=https://git.corp.test,wiki=http://wiki.corp.test:8080/team";
    const { settings } = read({ env: { KB_ALLOW_PRIVATE_HOSTS: "10.0.0.5:443", KB_INSTANCES } });
    expect(privateHostsOf(settings)).toEqual(["10.0.0.5:443", "git.corp.test:443", "wiki.corp.test:8080"]);
    expect(privateHostsOf({ ...settings, signup: "open" })).toEqual([]);
    expect(privateHostsOf({ ...settings, mode: "managed" })).toEqual([]);
  });

  test("the file in the data folder is read when it is there", ({ expect }) => {
    const dataDir = tempDir();
    expect(loadSettings({ env: {}, flags: { dataDir } }).settings.port).toBe(7700);
    writeFileSync(join(dataDir, "server.yaml"), "port: 7701\n");
    expect(loadSettings({ env: {}, flags: { dataDir } }).settings.port).toBe(7701);
    writeFileSync(join(dataDir, "server.yaml"), "port: [\n");
    expect(() => loadSettings({ env: {}, flags: { dataDir } })).toThrow(/server.yaml can't be read/);
    expect(() => loadSettings({ env: {}, flags: { dataDir }, configFile: "/nowhere.yaml" })).toThrow(/nowhere/);
  });
});

describe("schemes of apps", () => {
  const read = (value: string) =>
    readSettings({ env: { HOME: "/h", KB_OAUTH_APP_SCHEMES: value }, readSecret: () => "" });

  test("are taken as people write them, and never those that run something", ({ expect }) => {
    const { oauthAppSchemes } = read("windsurf-next, Positron://,trae-cn:").settings;
    expect(oauthAppSchemes).toEqual(["windsurf-next", "positron", "trae-cn"]);
    for (const scheme of [
      "javascript",
      "data",
      "FILE:",
      "https",
      "vbscript",
      "x-script",
      "ms-word",
      "chrome",
      "a b",
      "1x",
    ])
      expect(() => read(scheme), scheme).toThrow(/KB_OAUTH_APP_SCHEMES/);
  });
});

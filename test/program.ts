/** The program that tests start: the installed package where the run made one, else the build. */
export const CLI = process.env["KB_TEST_CLI"] ?? new URL("../dist/cli.js", import.meta.url).pathname;

// Closes a run with the counts of the test report; exits 1 when a test or one of the other checks failed.
import { existsSync, readFileSync } from "node:fs";

const [file, otherFailure] = process.argv.slice(2);
const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { numPassedTests: 0, numFailedTests: 1 };
const failed = report.numFailedTests + (otherFailure === "0" || report.numFailedTests > 0 ? 0 : 1);
process.stdout.write(`${report.numPassedTests} passed, ${failed} failed\n`);
process.exit(failed === 0 && report.numPassedTests > 0 ? 0 : 1);

// Loaded before a program: its clock is `KB_TEST_CLOCK_AHEAD_MS` ahead, in worker threads too.
const ahead = Number(process.env.KB_TEST_CLOCK_AHEAD_MS ?? 0);
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now());
    else super(...args);
  }
};

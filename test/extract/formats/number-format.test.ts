import { expect, test } from "vitest";
import { formatCellNumber, numberKindOf } from "#extract/office/number-format.ts";
import { withShownWords } from "#extract/office/number-literals.ts";

test.each([
  ['"Step "0', "3", "Step 3"],
  ['"A"000', "7", "A007"],
  ['0.0" kg"', "1.25", "1.25 kg"],
  ['0"kg"', "5", "5 kg"],
  ['#,##0.00\\ "€"', "1234.5", "1234.5 €"],
  ["[$€-407]#,##0.00", "-2", "€-2"],
  ["[$CHF]#,##0", "20", "CHF 20"],
  ["$#,##0_);($#,##0)", "-3", "$-3"],
  ['_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-', "0", "0 €"],
  ['0%" of all"', "0.5", "50% of all"],
  ['"Yes";"Debt";"No"', "1", "Yes"],
  ['"Yes";"Debt";"No"', "0", "No"],
  ['[=1]"one day";[<5]0" days";0" long days"', "4", "4 days"],
  ["000\\-00\\-0000", "12345678", "012-34-5678"],
  ["[<=9999999]###\\-####;\\(###\\)\\ ###\\-####", "5551234", "555-1234"],
  ["00-000", "1234", "01-234"],
  // A number that is shown in thousands, fractions, powers.
  ['0,"k"', "5000", "5000"],
  ["# ?/?", "0.5", "0.5"],
  ["0.00E+00", "12", "12"],
  ['General" pieces"', "7", "7 pieces"],
  // Dates of other calendars.
  ['[$-411]ggge"年"m"月"d"日"', "45322", "2024-01-31"],
  ['e"年"', "45322", "2024-01-31"],
  ["[$-1070000]d/mm/bbbb", "45322", "2024-01-31"],
  ["[$-411]aaaa", "45322", "2024-01-31"],
  ["[Red]0.0;[Blue]-0.0", "-1.5", "-1.5"],
])("%s shows %s as %s", (code, value, shown) => {
  expect(formatCellNumber(value, numberKindOf(170, code))).toBe(shown);
});

test.each([
  ["3", "Step 3", "Step 3"],
  ["1234.567", "1.234,57 €", "1234.567 €"],
  ["-5", "-5,00 €", "-5 €"],
  ["5000", "5k", "5000"],
  ["1", "TRUE", "1"],
  ["7", "A 1 of 7", "7"],
  ["-2", "-€2.00", "€-2"],
])("the number %s that a program shows as %s is read as %s", (value, shown, read) => {
  expect(withShownWords(value, shown)).toBe(read);
});

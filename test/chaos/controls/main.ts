import { runControl } from './control.ts';
import { CONTROLS, isCompensated } from './defects.ts';

// `npm run controls -- locked` runs the controls whose promise, behaviour or mistake has this text.
const only = process.argv[2] ?? '';
const chosen = CONTROLS.filter(({ promise, behaviour, defect }) =>
  [promise, behaviour, defect].some((text) => text.includes(only)),
);
const print = (line: string) => process.stdout.write(`${line}\n`);
let good = 0;

for (const control of chosen) {
  const { verdict, messages } = await runControl(control);
  const isGood = verdict === 'found' || verdict === 'held';
  const shown = isGood ? verdict.padEnd(7) : verdict.toUpperCase();
  const by = isCompensated(control) ? `by: ${control.compensatedBy}` : control.test;
  print(`${shown} ${control.promise}: ${control.behaviour} (${control.defect}; ${by})`);
  if (isGood) good += 1;
  else print(messages.slice(0, 2_000));
}
print(`${good} of ${chosen.length} controls are found or held`);
process.exitCode = good === chosen.length && good > 0 ? 0 : 1;

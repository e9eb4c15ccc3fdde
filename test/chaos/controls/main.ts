import { runControl } from './control.ts';
import { CONTROLS } from './defects.ts';

// `npm run controls -- locked` runs the controls whose promise, behaviour or mistake has this text.
const only = process.argv[2] ?? '';
const chosen = CONTROLS.filter(({ promise, behaviour, defect }) =>
  [promise, behaviour, defect].some((text) => text.includes(only)),
);
const print = (line: string) => process.stdout.write(`${line}\n`);
let found = 0;

for (const control of chosen) {
  const { verdict, messages } = await runControl(control);
  const shown = verdict === 'found' ? verdict.padEnd(7) : verdict.toUpperCase();
  const { promise, behaviour, defect, test } = control;
  print(`${shown} ${promise}: ${behaviour} (${defect}; ${test})`);
  if (verdict === 'found') found += 1;
  else print(messages.slice(0, 2_000));
}
print(`${found} of ${chosen.length} found`);
process.exitCode = found === chosen.length && found > 0 ? 0 : 1;

import { control } from './control.ts';
import { DEFECTS, HARMLESS } from './defects.ts';

const only = process.argv[2] ?? '';
const say = (line: string) => process.stdout.write(`${line}\n`);
let missed = 0;

for (const defect of DEFECTS.filter(({ name }) => name.includes(only))) {
  const { failed, said } = await control(defect);
  const isFound = failed > 0 && defect.says.test(said);
  if (!isFound) missed += 1;
  say(`${isFound ? 'found  ' : 'MISSED '} ${defect.name} (${defect.test})`);
  if (!isFound) say(said.slice(0, 2_000));
}
for (const defect of HARMLESS.filter(({ name }) => name.includes(only))) {
  const { failed, passed, said } = await control(defect);
  const isHeld = failed === 0 && passed > 0;
  if (!isHeld) missed += 1;
  say(`${isHeld ? 'held   ' : 'NOT HELD'} ${defect.name}: ${defect.heldBy}`);
  if (!isHeld) say(said.slice(0, 2_000));
}
process.exitCode = missed > 0 ? 1 : 0;

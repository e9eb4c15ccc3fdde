import { parseArgs } from 'node:util';
import { budgetOf, codeLines, roomOf, sizes } from './house.ts';
import { sourceFiles } from './imports.ts';
import { ROOMS } from './rooms.ts';

// Prints the lines of code of each room beside its budget; with the name of a room, those of its files.
const [wanted] = parseArgs({ allowPositionals: true }).positionals;
const print = (name: string, lines: number, note = '') =>
  process.stdout.write(`${name.padEnd(36)}${lines.toLocaleString('en').padStart(8)}${note}\n`);

if (wanted === undefined) {
  for (const [room, lines] of sizes()) {
    print(room, lines, `  of ${budgetOf(room).toLocaleString('en').padStart(6)}`);
  }
  const bot = [...sizes()].filter(([place]) => place in ROOMS);
  print(
    'all of src',
    bot.reduce((sum, [, lines]) => sum + lines, 0),
  );
} else {
  const files = sourceFiles.filter((file) => (roomOf(file) ?? 'sandbox') === wanted);
  const lines = files.map((file) => [file, codeLines(file)] as const);
  if (lines.length === 0) {
    process.stderr.write(`No room "${wanted}". Rooms: ${Object.keys(ROOMS).join(', ')}, sandbox\n`);
    process.exitCode = 1;
  }
  for (const [file, count] of lines.toSorted((one, other) => other[1] - one[1])) print(file, count);
}

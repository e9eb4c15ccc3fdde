import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

// `npm run check`: these scripts of package.json run side by side. What each prints is shown in one piece when it ends,
// so that a failure is not mixed with what others print; the first one gives the exit code.
const PARTS = ['lint', 'types', 'quick -- --reporter=minimal'];

// A part prints into a pipe, where it would print no colours.
const env = { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) };

async function runPart(part: string): Promise<void> {
  const child = spawn(`npm run --silent ${part} 2>&1`, { env, shell: true, stdio: 'pipe' });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  // A part that a signal ended has no code.
  process.exitCode ||= code ?? 1;
  const seconds = Math.round(performance.now() / 1_000);
  const ending = code === 0 ? 'passed' : 'FAILED';
  process.stdout.write(`${output}${part.split(' ')[0]}: ${ending} after ${seconds} s\n`);
}

await Promise.all(PARTS.map(runPart));

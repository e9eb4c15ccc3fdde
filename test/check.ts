import { spawn } from 'node:child_process';

// `npm run check`: these scripts of package.json run side by side. What each prints is shown in one piece when it ends,
// so that a failure is not mixed with what others print; the first one gives the exit code.
const PARTS = [['lint'], ['types'], ['quick', '--', '--reporter=minimal']] as const;

// A part prints into a pipe, where it would print no colours.
const env = { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }) };
const begun = performance.now();

async function runPart([part, ...options]: (typeof PARTS)[number]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const words = ['run', '--silent', part, ...options];
  const child = spawn('npm', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => output.push(chunk));
  }
  child.on('error', reject);
  // A part that a signal ended has no code, and has failed.
  child.on('close', (code) => resolve(code ?? 1));
  const code = await promise;
  process.exitCode ||= code;
  const seconds = Math.round((performance.now() - begun) / 1_000);
  process.stdout.write(Buffer.concat(output));
  process.stdout.write(`${part}: ${code === 0 ? 'passed' : 'FAILED'} after ${seconds} s\n`);
}

await Promise.all(PARTS.map(runPart));

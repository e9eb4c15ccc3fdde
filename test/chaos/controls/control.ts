import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { hookProblem, readSource } from '../processes/source-hook.ts';
import type { Control } from './defects.ts';

const Report = z.object({
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(z.object({ failureMessages: z.array(z.string()) })),
    }),
  ),
});

export interface ControlResult {
  /** `no hook`: the mistake has no place in the source, or no tests, so that nothing ran. */
  readonly verdict: 'found' | 'missed' | 'no hook';
  /** What the tests reported, or why nothing ran. */
  readonly messages: string;
}

/** Runs the tests of a control, or those whose name has `only`, on the source with its mistake. */
export async function runControl(control: Control, only = ''): Promise<ControlResult> {
  const problem = hookProblem(control, readSource());
  if (problem) return { verdict: 'no hook', messages: problem };
  if (!existsSync(control.test)) {
    return { verdict: 'no hook', messages: `${control.test} does not exist` };
  }
  const { failed, messages } = await runTests(control, only);
  const isFound = failed > 0 && control.reports.test(messages);
  return { verdict: isFound ? 'found' : 'missed', messages };
}

async function runTests({ behaviour, test }: Control, only: string) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-control-'));
  const file = join(folder, 'report.json');
  const args = ['run', test, '--project', 'bot', '--project', 'stories', '--bail', '1'];
  const how = ['--testNamePattern', only, '--reporter', 'json', '--outputFile', file];
  try {
    await runNode(['node_modules/vitest/vitest.mjs', ...args, ...how], behaviour);
    const { numFailedTests, testResults } = Report.parse(JSON.parse(readFileSync(file, 'utf8')));
    const messages = testResults.flatMap(({ message, assertionResults }) => [
      message,
      ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
    ]);
    return { failed: numFailedTests, messages: messages.join('\n') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runNode(args: readonly string[], behaviour: string): Promise<void> {
  const env = { ...process.env, SIGNALBOX_DEFECT: behaviour, NO_COLOR: '1' };
  return new Promise((resolve) => {
    // A failing run has a non-zero exit code; the report holds the reason.
    execFile(process.execPath, args, { env, maxBuffer: 2 ** 26 }, () => resolve());
  });
}

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Defect } from './defects.ts';

const Report = z.object({
  numFailedTests: z.number(),
  numPassedTests: z.number(),
  testResults: z.array(
    z.object({
      message: z.string(),
      assertionResults: z.array(z.object({ failureMessages: z.array(z.string()) })),
    }),
  ),
});

export interface ControlResult {
  readonly failed: number;
  readonly passed: number;
  /** The messages of all failed tests. */
  readonly messages: string;
}

/** Runs one test file on the source with the defect in it. */
export async function control({
  name,
  test,
}: Pick<Defect, 'name' | 'test'>): Promise<ControlResult> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-control-'));
  const file = join(folder, 'report.json');
  const args = ['run', test, '--project', 'bot', '--project', 'stories', '--bail', '1'];
  const how = ['--reporter', 'json', '--outputFile', file];
  try {
    await runNode(['node_modules/vitest/vitest.mjs', ...args, ...how], name);
    const { numFailedTests, numPassedTests, testResults } = Report.parse(
      JSON.parse(readFileSync(file, 'utf8')),
    );
    const messages = testResults.flatMap(({ message, assertionResults }) => [
      message,
      ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
    ]);
    return { failed: numFailedTests, passed: numPassedTests, messages: messages.join('\n') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runNode(args: readonly string[], defect: string): Promise<void> {
  const env = { ...process.env, SIGNALBOX_DEFECT: defect, NO_COLOR: '1' };
  return new Promise((resolve) => {
    // A failing run has a non-zero exit code; the report holds the reason.
    execFile(process.execPath, args, { env, maxBuffer: 2 ** 26 }, () => resolve());
  });
}

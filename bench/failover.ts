import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadPatched } from '../test/chaos/processes/load-patched.ts';
import { patcherOf } from '../test/chaos/processes/source-hook.ts';
import { temporaryFolder } from '../test/temporary-files.ts';
import { MISTAKE } from './failover/control.ts';
import type { Result } from './failover/story.ts';

// The control loads the source with a mistake, and must see the request twice.
const isControl = process.argv[2] === 'control';
if (isControl) loadPatched(patcherOf([MISTAKE]));
const { installedPostgres } = await import('./failover/pair.ts');
const { runWay, WAYS } = await import('./failover/story.ts');

const say = (line: string) => process.stdout.write(`${line}\n`);

function reported(result: Result): string {
  const { way, requests, effects, claims, ending, next, seconds, problems } = result;
  const figures = [
    `requests before ${requests[0]}, after ${requests[1]}`,
    `effects ${effects[0]}, ${effects[1]}`,
    `claims on the primary ${claims[0]}, on the standby ${claims[1]}`,
    `card: ${ending}`,
    `next change: ${next}`,
    `${seconds.toFixed(1)} s`,
  ];
  const verdict = problems.length === 0 ? 'ok    ' : 'FAILED';
  return [`${verdict} ${way}: ${figures.join('; ')}`, ...problems.map((one) => `  ${one}`)].join(
    '\n',
  );
}

/** The ways whose process does not remember the execution, with the mistake: each must send the request again. */
async function control(bin: string, folder: string): Promise<boolean> {
  let missed = 0;
  for (const way of WAYS.slice(1)) {
    const { requests, seconds } = await runWay(way, bin, folder);
    const isFound = requests.join() === '1,2';
    const verdict = isFound ? 'found ' : 'MISSED';
    const figures = `requests before ${requests[0]}, after ${requests[1]}; ${seconds.toFixed(1)} s`;
    say(`${verdict} control, marks in Slack are ignored, ${way}: ${figures}`);
    if (!isFound) missed += 1;
  }
  return missed === 0;
}

/** Each way is a failover of its own, on servers of its own. */
async function allWays(bin: string, folder: string): Promise<boolean> {
  let failed = 0;
  for (const way of WAYS) {
    const result = await runWay(way, bin, folder);
    say(reported(result));
    if (result.problems.length > 0) failed += 1;
  }
  say(`${WAYS.length - failed} of ${WAYS.length} ways sent the request once`);
  const child = spawn(process.execPath, [import.meta.filename, 'control'], { stdio: 'inherit' });
  // An interrupted run stops the control as well.
  process.once('exit', () => child.kill());
  const [code] = await once(child, 'exit');
  return failed === 0 && code === 0;
}

async function main(bin: string): Promise<boolean> {
  const folder = mkdtempSync(join(temporaryFolder(), 'signalbox-failover-'));
  // The user of PostgreSQL enters it.
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  // Leaving by exit lets the servers be stopped and their files be deleted.
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  try {
    return await (isControl ? control(bin, folder) : allWays(bin, folder));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    return false;
  }
}

const bin = installedPostgres();
if (bin) {
  process.exit((await main(bin)) ? 0 : 1);
} else {
  process.stderr.write(
    'npm run failover needs the programs of a PostgreSQL server (initdb, postgres, pg_basebackup, pg_ctl) ' +
      'in /usr/lib/postgresql, where Debian installs them. It installs nothing.\n',
  );
  process.exitCode = 1;
}

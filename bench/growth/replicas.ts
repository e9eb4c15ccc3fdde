import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort } from '../../sandbox/free-port.ts';
import { sandboxFile } from '../../test/harness/config.ts';
import { workspaceWith } from '../../test/harness/generated-users.ts';
import { PROCESS_ENV } from '../../test/harness/run-command.ts';
import { organizationWith, withDevServices } from '../../test/harness/services.ts';
import { startSimulatorsForProcess } from '../../test/harness/simulators.ts';
import { type Child, startChild } from '../child.ts';
import { PEOPLE, SERVICES } from './year.ts';

const READY_WITHIN_MS = 120_000;

export const workspaceOfYear = () => workspaceWith(PEOPLE, { engineering: PEOPLE });

/** Starts three replicas on the database, one after another; returns the time of each until ready. */
export async function startReplicas(databaseUrl: string) {
  const simulators = await startSimulatorsForProcess({
    databaseUrl,
    yaml: stringify(sandboxFile((file) => withDevServices(file, SERVICES))),
    organization: organizationWith(SERVICES),
    workspace: workspaceOfYear(),
  });
  const children: Child[] = [];
  const readyMs: number[] = [];
  for (let replica = 0; replica < 3; replica += 1) {
    const port = String(await freePort());
    const began = performance.now();
    const env = { ...PROCESS_ENV, ...simulators.env, PORT: port, LOG_LEVEL: 'error' };
    const child = startChild('src/main.ts', { env });
    children.push(child);
    await untilReady(`http://127.0.0.1:${port}/readyz`, child);
    readyMs.push(performance.now() - began);
  }
  const memoryMib = await Promise.all(
    children.map(async (child) => (await child.gauge()).rssBytes / 2 ** 20),
  );
  const stop = async () => {
    await Promise.all(children.map((child) => child.stop()));
    await simulators.stop();
  };
  return { readyMs, memoryMib, stop };
}

async function untilReady(url: string, child: Child): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until && !child.hasStopped()) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await wait(20);
  }
  throw new Error('A replica did not become ready');
}

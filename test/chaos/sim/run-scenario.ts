import type { Crash } from './ports.ts';
import type { Scenario } from './scenarios.ts';
import { openSimulation } from './simulation.ts';

export interface ScenarioResult {
  readonly portCalls: number;
  readonly sent: number;
  readonly wrong: readonly string[];
}

/** Runs a scenario with a crash; another process takes over and finishes the work. */
export async function runScenario(
  { play }: Scenario,
  crash: Crash | null,
): Promise<ScenarioResult> {
  const simulation = await openSimulation();
  try {
    if (crash) await simulation.plan(crash);
    await play(simulation);
    const portCalls = simulation.portCalls().length;
    await simulation.settle();
    const sent = simulation.server.deliveries().length;
    return { portCalls, sent, wrong: await simulation.wrong() };
  } finally {
    await simulation.close();
  }
}

/** All crashes that are possible in a scenario with so many calls of ports. */
export function crashesOf({ portCalls }: ScenarioResult): readonly Crash[] {
  return Array.from({ length: portCalls }, (_, index) => index + 1).flatMap((at) => [
    { at, when: 'before' },
    { at, when: 'after' },
  ]);
}

import { pino } from 'pino';
import { type ChangeCommand, type CommandContext, commands } from '../../src/commands/index.ts';
import { changeIdFrom } from '../../src/domain/change.ts';
import type { SendResult } from '../../src/servers/sent.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import { freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { ignoredMeasures } from './ignored-measures.ts';

const SENT: SendResult = { requestId: 'r-1', reported: ['running'], learned: null };

/** A context of the workflow with a database of its own, one clock, and a server that is a function. */
export async function createTestContext(send: () => Promise<SendResult> = async () => SENT) {
  const clock = { now: NOON };
  const now = () => clock.now;
  const sent = { count: 0 };
  const scale = commands.find(({ name }) => name === 'service scale');
  if (scale?.kind !== 'change') throw new Error('There is no such change');
  const command: ChangeCommand = {
    ...scale,
    send: () => {
      sent.count += 1;
      return send();
    },
  };
  const database = await freshDatabase('sqlite', { now });
  const context: WorkflowContext = {
    database,
    auditKey: null,
    trail: {
      problem: async () => null,
      verifyAll: async () => undefined,
      follow: async () => undefined,
      isRevertPlanned: () => false,
      writeCheckpoint: async () => undefined,
    },
    configuration: 'c1',
    prices: null,
    policy: policyOf([{ allow: ['service *'], to: 'operator' }]),
    commands: new Map([[command.name, command]]),
    // The clients are not reached: the command's own send stands in for them.
    commandContext: () => ({ services: [], reads: READS_OFF }) as unknown as CommandContext,
    people: {
      identify: async () => ({ ok: false, refusal: 'lookup-failed' }),
      someMembers: async () => null,
      zoneOf: async () => 'Europe/Berlin',
    },
    // Nothing is shown by what is tested with this.
    messenger: {} as WorkflowContext['messenger'],
    log: pino({ level: 'silent' }),
    now,
    newId: () => changeIdFrom(new Uint8Array(6)),
    instance: 'tests',
    wake: () => undefined,
    services: () => [],
    discoversServices: false,
    directCards: { onRequest: false, of: async () => [] },
    verifyServices: async () => [],
    refreshDirectory: () => undefined,
    estimateCost: async () => undefined,
    homeCosts: async () => null,
    measures: ignoredMeasures,
    incidents: {
      press: async () => ({ ok: true, answer: { title: '', parts: [] } }),
      details: async () => ({ ok: true, answer: { title: '', parts: [] } }),
    },
  };
  return { context, clock, sent };
}

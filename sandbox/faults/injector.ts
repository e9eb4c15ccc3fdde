import type { FaultChoice, SetFault } from '../protocol.ts';
import { COST_FAULTS } from './costs.ts';
import { ERROR_FAULTS } from './errors.ts';
import type { Api, Fault } from './fault.ts';
import { PAYLOAD_FAULTS } from './payloads.ts';
import { TRANSPORT_FAULTS } from './transport.ts';

const FAULTS: ReadonlyMap<string, Fault> = new Map(
  [...TRANSPORT_FAULTS, ...ERROR_FAULTS, ...PAYLOAD_FAULTS, ...COST_FAULTS].map((fault) => [
    fault.name,
    fault,
  ]),
);

export const FAULT_CHOICES: readonly FaultChoice[] = [...FAULTS.values()].map(
  ({ name, summary }) => ({ name, summary }),
);

export type FaultSetting = Omit<SetFault, 'api'>;

/** The faults that wait for requests, first armed first, each until it befell `times` of them. */
export interface FaultInjector {
  /** Why this cannot be armed, or null. */
  problem(arming: FaultSetting): string | null;
  arm(arming: FaultSetting): void;
  take(operation: string): Fault | null;
  list(): readonly SetFault[];
  clear(): void;
}

export function createFaultInjector(api: Api, operations: readonly string[]): FaultInjector {
  let waiting: readonly FaultSetting[] = [];

  const problem = ({ operation, fault, times }: FaultSetting): string | null => {
    const known = FAULTS.get(fault);
    if (!operations.includes(operation)) return `the ${api} API has no operation “${operation}”`;
    if (known === undefined) return `there is no fault “${fault}”`;
    if (known.only?.includes(operation) === false) return `“${fault}” cannot befall “${operation}”`;
    if (!Number.isInteger(times) || times < 1) return 'times must be a whole number from 1';
    return null;
  };

  return {
    problem,
    arm(arming) {
      const why = problem(arming);
      if (why !== null) throw new Error(why);
      waiting = [...waiting, arming];
    },
    take(operation) {
      const next = waiting.find((arming) => arming.operation === operation);
      if (next === undefined) return null;
      const left = next.times > 1 ? [{ ...next, times: next.times - 1 }] : [];
      waiting = waiting.flatMap((arming) => (arming === next ? left : [arming]));
      return FAULTS.get(next.fault) ?? null;
    },
    list: () => waiting.map((arming) => ({ api, ...arming })),
    clear() {
      waiting = [];
    },
  };
}

import type { ActiveFault, Api, FaultChoice } from '../protocol.ts';
import { COST_FAULTS } from './costs.ts';
import { ERROR_FAULTS } from './errors.ts';
import type { Fault } from './fault.ts';
import { PAYLOAD_FAULTS } from './payloads.ts';
import { READ_FAULTS } from './reads.ts';
import { TRANSPORT_FAULTS } from './transport.ts';

const ALL = [
  ...TRANSPORT_FAULTS,
  ...ERROR_FAULTS,
  ...PAYLOAD_FAULTS,
  ...COST_FAULTS,
  ...READ_FAULTS,
];
const FAULTS: ReadonlyMap<string, Fault> = new Map(ALL.map((fault) => [fault.name, fault]));

export const FAULT_CHOICES: readonly FaultChoice[] = ALL.map(({ name, summary }) => {
  return { name, summary };
});

export type FaultSetting = Omit<ActiveFault, 'api'>;

export type FaultInjector = ReturnType<typeof createFaultInjector>;

/** The active faults in the order of injection; each applies to `times` requests. */
export function createFaultInjector(api: Api, operations: readonly string[]) {
  let active: readonly FaultSetting[] = [];

  /** The reason why this fault cannot be injected, or null. */
  const problem = ({ operation, fault, times }: FaultSetting): string | null => {
    const known = FAULTS.get(fault);
    if (!operations.includes(operation)) return `the ${api} API has no operation “${operation}”`;
    if (known === undefined) return `there is no fault “${fault}”`;
    if (known.only?.includes(operation) === false) {
      return `“${fault}” does not apply to “${operation}”`;
    }
    if (!Number.isInteger(times) || times < 1) return 'times must be a whole number from 1';
    return null;
  };

  return {
    problem,
    inject(setting: FaultSetting): void {
      const reason = problem(setting);
      if (reason !== null) throw new Error(reason);
      active = [...active, setting];
    },
    /** The fault for the next request of the operation, or null; its count goes down by one. */
    take(operation: string): Fault | null {
      const next = active.find((setting) => setting.operation === operation);
      if (next === undefined) return null;
      const remaining = next.times > 1 ? [{ ...next, times: next.times - 1 }] : [];
      active = active.flatMap((setting) => (setting === next ? remaining : [setting]));
      return FAULTS.get(next.fault) ?? null;
    },
    list: (): readonly ActiveFault[] => active.map((setting) => ({ api, ...setting })),
    clear(): void {
      active = [];
    },
  };
}

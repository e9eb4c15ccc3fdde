import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import {
  EndpointCreationFields,
  ReplicaScalingFields,
  ServiceCreationFields,
  StateCommand,
  UsagePeriodFields,
} from './fields.ts';
import { creationProblems, endpointProblems, memoryProblems, periodProblems } from './rules.ts';

// The requests of the cloud API: the fields with the contract's rules over several fields.
export const ServiceCreation = ServiceCreationFields.check(withRules(creationProblems));
export type ServiceCreation = z.infer<typeof ServiceCreation>;

export const EndpointCreation = EndpointCreationFields.check(withRules(endpointProblems));
export type EndpointCreation = z.infer<typeof EndpointCreation>;

export const ReplicaScaling = ReplicaScalingFields.refine(
  (body) => Object.values(body).some((value) => value !== undefined),
  { error: 'must contain at least one change' },
).check(withRules(memoryProblems));
export type ReplicaScaling = z.infer<typeof ReplicaScaling>;

export const ServiceState = z.strictObject({ command: StateCommand });
export type ServiceState = z.infer<typeof ServiceState>;

/** UTC days, both included. */
export const UsagePeriod = UsagePeriodFields.check(withRules(periodProblems));
export type UsagePeriod = z.infer<typeof UsagePeriod>;

function withRules<T>(rules: (body: T) => readonly FieldProblem[]) {
  return ({ value, issues }: z.core.ParsePayload<T>): void => {
    for (const { field, problem } of rules(value)) {
      issues.push({ code: 'custom', input: value, path: [field], message: problem });
    }
  };
}

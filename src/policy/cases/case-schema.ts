import { z } from 'zod';
import {
  declaredName,
  InstantTextSchema,
  quoted,
  strictConfigObject,
  suggestion,
  withHint,
} from '../../base/problem.ts';
import type { RoleName, UserId } from '../../domain/change.ts';
import type { PolicyVocabulary } from '../../domain/policy.ts';
import { MemberId } from '../../domain/policy-schema.ts';
import { type Expectation, expectationSchema } from './expectation.ts';

/** How a case names the target of a command: a service, a scope of freezes, or not at all. */
export type CaseTargetKind = 'service' | 'scope' | 'none';

export interface CaseVocabulary extends PolicyVocabulary {
  /** The users that roles list by id; null if unknown, because the file has problems. */
  readonly users: readonly string[] | null;
  readonly targetKindOf: (command: string) => CaseTargetKind;
}

/** The target words of a case. Null: not given. */
export interface CaseScope {
  readonly service: string | null;
  readonly tag: string | null;
  readonly warehouse: string | null;
  readonly everything: boolean;
}

/** One case: a user who requests a command, and the decision that the policy must make. */
export interface PolicyCase {
  readonly name: string | null;
  readonly user: UserId | null;
  readonly roles: readonly RoleName[];
  readonly command: string;
  readonly scope: CaseScope;
  readonly at: Date;
  /** Null: a reason that is long enough for every rule. */
  readonly reason: string | null;
  readonly expected: Expectation;
  readonly rule: number | null;
}

/** The schema of a file of cases for the names that the configuration file declares. */
export function casesSchema(words: CaseVocabulary) {
  const fields = strictConfigObject({
    at: InstantTextSchema.optional(),
    cases: z.array(caseSchema(words)).min(1),
  });
  return fields.transform(({ at: common, cases }, context): readonly PolicyCase[] =>
    cases.flatMap((fields, index) => {
      const at = fields.at ?? common;
      if (at) return [caseOf(fields, at)];
      const hint = 'set it here or once at the top: the decision depends on freezes';
      const path = ['cases', index, 'at'];
      context.addIssue({ code: 'custom', path, message: withHint('is missing', hint) });
      return [];
    }),
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function caseSchema(words: CaseVocabulary) {
  const { queries, changes, services, tags, warehouses, roles } = words;
  const names = [...services.keys()];
  const service = z.string().refine((text) => names.includes(text) || UUID.test(text), {
    error: ({ input }) =>
      withHint(`names no service: ${quoted(String(input))}`, suggestion(String(input), names)),
  });
  return strictConfigObject({
    name: z.string().trim().min(1, { error: 'must not be empty' }).max(200).optional(),
    user: MemberId.optional(),
    roles: z.array(declaredName('role', roles)).optional(),
    command: declaredName('command', [...queries, ...changes]),
    service: service.optional(),
    tag: declaredName('tag of a service', tags).optional(),
    warehouse: declaredName('warehouse', warehouses).optional(),
    everything: z.literal(true).optional(),
    at: InstantTextSchema.optional(),
    reason: z.string().max(500).optional(),
    expect: expectationSchema(roles),
    rule: z.int().min(1).optional(),
  }).superRefine((fields, context) => {
    // Refinements also run after a problem of one field, which needs no second message.
    for (const [path, message] of [...userProblems(fields, words), ...scopeProblems(fields, words)])
      context.addIssue({ code: 'custom', path: [path], message });
  });
}

type Fields = z.output<ReturnType<typeof caseSchema>>;
type FieldMessage = readonly [path: string, message: string];

function userProblems({ user, roles }: Fields, { users }: CaseVocabulary): readonly FieldMessage[] {
  if (!user && !roles) {
    const hint = 'set roles: [operator], or user: U… for a user whom the file lists';
    return [['roles', withHint('is missing', hint)]];
  }
  if (!user || roles || users === null || users.includes(user)) return [];
  if (!MemberId.safeParse(user).success) return [];
  const hint = 'user groups cannot be read without Slack; set roles: […] for this user';
  return [['user', withHint(`${user} is in no role of the file by id`, hint)]];
}

function scopeProblems(fields: Fields, words: CaseVocabulary): readonly FieldMessage[] {
  const { command, service, tag, warehouse, everything } = fields;
  const given = Object.entries({ service, tag, warehouse, everything }).flatMap(([key, value]) =>
    value === undefined ? [] : [key],
  );
  if (![...words.queries, ...words.changes].includes(command)) return [];
  const kind = words.targetKindOf(command);
  const [first = 'service'] = given;
  if (kind === 'none') {
    return given.map((key) => [key, withHint(`does not fit ${quoted(command)}`, 'remove it')]);
  }
  if (given.length === 0) {
    const everythingToo = kind === 'scope' ? ', or everything: true' : '';
    return [['service', withHint('is missing', `or tag, or warehouse${everythingToo}`)]];
  }
  if (kind === 'service' && everything) {
    return [['everything', withHint(`does not fit ${quoted(command)}`, 'name a service')]];
  }
  const isOne = given.length === 1 || (kind === 'service' && service === undefined);
  return isOne ? [] : [[first, withHint(`contradicts ${given[1]}`, 'remove one of them')]];
}

function caseOf(fields: Fields, at: Date): PolicyCase {
  const { name = null, user = null, roles = [], command, reason = null, rule = null } = fields;
  const { service = null, tag = null, warehouse = null, everything = false } = fields;
  const scope = { service, tag, warehouse, everything };
  return { name, user, roles, command, scope, at, reason, expected: fields.expect, rule };
}

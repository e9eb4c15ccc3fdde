import { z } from 'zod';
import { allows, covers } from './matching.ts';
import type { Freeze, PolicyVocabulary, Rule } from './policy-types.ts';
import { declaredName, quoted, strictConfigObject, suggestion, withHint } from './problem.ts';
import { rolesSchema } from './roles.ts';
import { selectorSchema } from './selector.ts';
import { Duration, InstantTextSchema } from './time.ts';

// The types of the parsed policy, for the importers of this schema.
export type { Freeze, Policy, PolicyVocabulary, Role, Rule, Selector } from './policy-types.ts';

/** The keys of the configuration file that form the policy. */
export function policyShape(words: PolicyVocabulary) {
  return {
    roles: rolesSchema(),
    policy: rulesSchema(words),
    freezes: z.array(freezeSchema(words)).default([]),
    never: z.array(neverSchema(words)).default([]),
  };
}

/** A channel, by name or id. */
export const ChannelName = z.string().regex(/^(#[\p{L}\d_-]{1,80}|[CG][A-Z0-9]{4,})$/u, {
  error: withHint('must be a channel', "its name in quotes, '#db-approvals', or its id, C…"),
});

export const Allowed = z.enum(['refused', 'allowed']).default('refused');

const Reason = z
  .union(
    [
      z.enum(['required', 'optional']),
      strictConfigObject({
        required: z.literal(true),
        minimum: z.int().min(1).max(500).default(1),
      }),
    ],
    { error: 'must be required, optional, or { required: true, minimum: 20 }' },
  )
  .default('optional')
  .transform((reason) =>
    typeof reason === 'string' ? { required: reason === 'required', minimum: 1 } : reason,
  );

function ruleSchema(words: PolicyVocabulary) {
  const role = declaredName('role', words.roles);
  return strictConfigObject({
    allow: z.array(patternSchema([...words.queries, ...words.changes])).min(1),
    on: selectorSchema(words).optional(),
    to: role,
    approvals: approvalsSchema(role).optional(),
    reason: Reason,
    expires: Duration.default(86_400_000),
    channel: ChannelName.optional(),
    breakGlass: strictConfigObject({ to: role }).optional(),
    discovered: Allowed,
  });
}

function approvalsSchema(role: z.ZodType<string>) {
  return strictConfigObject({
    from: role,
    count: z.int().min(1).max(20).default(1),
    self: Allowed,
    escalate: strictConfigObject({ to: role, after: Duration }).optional(),
  }).transform(({ self, escalate = null, ...rest }) => ({
    ...rest,
    self: self === 'allowed',
    escalate,
  }));
}

function patternSchema(commands: readonly string[]) {
  return z
    .string()
    .regex(/^(\*|[a-z][a-z-]*( [a-z][a-z-]*)*( \*)?)$/, {
      error: withHint('must be a command', 'for example: service stop · service * · *'),
      abort: true,
    })
    .refine((pattern) => commands.some((command) => covers(pattern, command)), {
      error: ({ input }) =>
        withHint(
          `matches no command: ${quoted(String(input))}`,
          suggestion(String(input), commands),
        ),
    });
}

type RuleEntry = z.output<ReturnType<typeof ruleSchema>>;

function rulesSchema(words: PolicyVocabulary) {
  return z
    .array(ruleSchema(words))
    .min(1)
    .transform((entries) => entries.map(ruleOf))
    .superRefine((rules, context) => {
      const commands = [...words.queries, ...words.changes];
      for (const rule of rules) {
        const found =
          deadRule(rule, rules, commands) ??
          idleRule(rule, words.changes) ??
          unusedDiscovery(rule, words.changes);
        if (found) context.addIssue({ code: 'custom', path: [rule.place - 1], message: found });
      }
    });
}

function ruleOf(entry: RuleEntry, index: number): Rule {
  return {
    place: index + 1,
    commands: entry.allow,
    on: entry.on ?? null,
    to: entry.to,
    approvals: entry.approvals ?? null,
    reason: entry.reason,
    expiresAfterMs: entry.expires,
    channel: entry.channel ?? null,
    breakGlass: entry.breakGlass ?? null,
    discovered: entry.discovered === 'allowed',
  };
}

// A strict rule after a rule that covers all of its commands looks like protection but never decides.
function deadRule(rule: Rule, rules: readonly Rule[], commands: readonly string[]): string | null {
  const earlierRules = rules.slice(0, rule.place - 1).filter(({ on }) => on === null);
  const own = commands.filter((command) => allows(rule, command));
  if (!own.every((command) => earlierRules.some((earlier) => allows(earlier, command))))
    return null;
  const places = earlierRules.filter((earlier) => own.some((command) => allows(earlier, command)));
  const names = places.map(({ place }) => place).join(' and ');
  return withHint(
    `never decides: rule ${names} covers all of its commands`,
    'the first rule that matches decides; put the stricter one first',
  );
}

// A key without effect is refused: queries need no approval and no reason.
function idleRule(rule: Rule, changes: readonly string[]): string | null {
  const requires = rule.approvals || rule.breakGlass || rule.reason.required;
  if (!requires || changes.some((command) => allows(rule, command))) return null;
  return withHint(
    'requires approvals or a reason, but allows only queries',
    'only changes need them; remove approvals, reason and breakGlass',
  );
}

// A discovered service is covered by facts of the server only. The services of a selector are those of
// the file, and a rule without a selector would cover every service that anyone creates.
function unusedDiscovery({ commands, on, discovered }: Rule, changes: readonly string[]) {
  if (!discovered) return null;
  if (!changes.some((change) => commands.some((pattern) => covers(pattern, change)))) {
    return withHint(
      'has discovered: allowed, but allows only queries',
      'queries may name discovered services under every rule; remove discovered',
    );
  }
  if (on !== null && on.services === null) return null;
  return withHint(
    'has discovered: allowed, but its selector covers no discovered service',
    'set on: { tags: […] } or on: { warehouses: […] }, without services',
  );
}

function neverSchema(words: PolicyVocabulary) {
  return strictConfigObject({
    commands: z.array(patternSchema(words.changes)).min(1),
    on: selectorSchema(words).optional(),
    reason: z.string().trim().min(1, { error: 'must not be empty' }).max(300),
  }).transform(({ on = null, ...never }) => ({ ...never, on }));
}

function freezeSchema(words: PolicyVocabulary) {
  const text = z.string().trim().min(1, { error: 'must not be empty' }).max(300);
  return strictConfigObject({
    from: InstantTextSchema,
    until: InstantTextSchema,
    on: selectorSchema(words).optional(),
    reason: text,
    by: text.optional(),
  })
    .refine(({ from, until }) => from < until, {
      path: ['until'],
      error: 'must be later than from',
    })
    .transform(({ on, by, ...freeze }): Freeze => ({ ...freeze, on: on ?? null, by: by ?? null }));
}

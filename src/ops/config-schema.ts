import { z } from 'zod';
import { strictConfigObject, withHint } from '../base/problem.ts';
import { DAY_MS } from '../base/time.ts';
import { costConfigShape } from '../costs/index.ts';
import type { PolicyVocabulary } from '../domain/policy.ts';
import { Allowed, ChannelName, costSelectorSchema, policyShape } from '../domain/policy-schema.ts';

const Id = z.guid({
  error: ({ input }) =>
    input === undefined ? 'is missing' : withHint('must be an id', 'a UUID, from the console'),
});

// One word that users can type in a command, also on a phone.
const Name = z.string().regex(/^[\p{L}\d][\p{L}\d._-]{0,62}$/u, {
  error: 'must be one word of letters, digits, dots and dashes',
});

const Tag = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'must be one word of lower-case letters, digits and dashes',
});

/** A tag of the server, `key` or `key=value`, in lower case. */
const ServerTag = z.string().regex(/^[a-z0-9._-]{1,128}(=[a-z0-9._-]{1,256})?$/, {
  error: withHint('must be a tag of the server in lower case', 'its key, or key=value'),
});

const Pipe = strictConfigObject({ name: Name, id: Id });

const Service = strictConfigObject({
  name: Name,
  aliases: z.array(Name).default([]),
  id: Id,
  tags: z.array(Tag).default([]),
  warehouse: Name.nullable().default(null),
  team: Name.nullable().default(null),
  pipes: z.array(Pipe).default([]),
});

const Organization = strictConfigObject({
  id: Id,
  plan: z.enum(['paid', 'free']),
  tier: z.enum(['basic', 'scale', 'enterprise']),
});

const Channels = strictConfigObject({
  approvals: ChannelName.optional(),
  audit: ChannelName.optional(),
})
  .default({})
  .transform(({ approvals = null, audit = null }) => ({ approvals, audit }));

const Access = strictConfigObject({ openToTheWorld: Allowed, privateAddresses: Allowed })
  .default({ openToTheWorld: 'refused', privateAddresses: 'refused' })
  .transform(({ openToTheWorld, privateAddresses }) => ({
    openToTheWorld: openToTheWorld === 'allowed',
    privateAddresses: privateAddresses === 'allowed',
  }));

const CONSOLE_HINT = 'for example https://console.example.com/services/{service}';

/** The id of a service must not choose the server, so it may only be in the path and what follows. */
function isConsoleAddress(text: string): boolean {
  const [one, other] = ['a', 'b'].map((id) => text.replaceAll('{service}', id));
  if (!URL.canParse(one ?? '') || !URL.canParse(other ?? '') || /[{}]/.test(one ?? ''))
    return false;
  const [address, same] = [new URL(one ?? ''), new URL(other ?? '')];
  const isPlain = address.username === '' && address.password === '';
  return address.protocol === 'https:' && isPlain && address.origin === same.origin;
}

const Console = z
  .string()
  .max(500)
  .refine(isConsoleAddress, {
    error: withHint('must be an https address, with {service} at most in its path', CONSOLE_HINT),
  });

const Cloud = strictConfigObject({
  /** The form of the dates in requests for the usage report. */
  usageDates: z.enum(['auto', 'date-time', 'date']).default('auto'),
  /** `extended`: also uses the reads of live servers that the contract does not have. */
  reads: z.enum(['contract', 'extended']).default('contract'),
  /** The page of a service in the console of the provider; `{service}` stands for its id. */
  console: Console.optional(),
  /** The tags of the server that rules may name. Only discovered services have them. */
  tags: z.array(ServerTag).min(1).optional(),
}).default({ usageDates: 'auto', reads: 'contract' });

const LONGEST_DAYS = 3_650;

/** Schedules end 90 days after their approval, so that a shorter time would keep all events anyway. */
const LEAST_CHANGES_DAYS = 90;
/**
 * Signalbox learns from 84 days of snapshots when days become final, and costs are stored by month.
 * Source: docs/retention.md#configuration.
 */
const LEAST_COSTS_DAYS = 120;

/** `400d` → milliseconds. */
function days(least: number) {
  const problem = withHint(
    'must be a number of days',
    `for example 400d, from ${least}d to ${LONGEST_DAYS}d`,
  );
  return z
    .string(problem)
    .regex(/^\d{1,6}d$/, problem)
    .transform((text) => Number(text.slice(0, -1)))
    .refine((count) => count >= least && count <= LONGEST_DAYS, problem)
    .transform((count) => count * DAY_MS);
}

/** How long `audit archive` keeps changes and costs in the database; null: forever. */
const Retention = strictConfigObject({
  changes: days(LEAST_CHANGES_DAYS).optional(),
  costs: days(LEAST_COSTS_DAYS).optional(),
})
  .default({})
  .transform(({ changes = null, costs = null }) => ({ changesMs: changes, costsMs: costs }));

/** The schema of signalbox.yaml for the names that the file declares. */
export function fileSchema(words: PolicyVocabulary & { readonly teams: readonly string[] }) {
  const on = costSelectorSchema(words);
  return strictConfigObject({
    organization: Organization,
    services: z.array(Service).default([]),
    channels: Channels,
    /** Who gets the card of a change: its channel, and with `dm` approvers who are not in it, or all. */
    notify: z.enum(['channel', 'dm', 'both']).default('channel'),
    ...policyShape(words),
    ...costConfigShape(on),
    access: Access,
    cloud: Cloud,
    retention: Retention,
  }).transform(({ roles, policy, freezes, never, cloud, costs, ...rest }) => ({
    ...rest,
    prices: costs.price,
    usageDates: cloud.usageDates,
    reads: cloud.reads,
    console: cloud.console ?? null,
    serverTags: cloud.tags ?? [],
    policy: { roles, rules: policy, freezes, never },
  }));
}

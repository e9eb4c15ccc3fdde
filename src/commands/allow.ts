import { z } from 'zod';
import { typedSpan } from '../base/moments.ts';
import { type JsonObject, spanText } from '../base/text.ts';
import { scopeOf, servicesIn } from '../domain/freezes.ts';
import { allowedPairs, allowedTarget, MOST_USES, USUAL_USES } from '../domain/standing.ts';
import { spanSchema } from '../domain/timing.ts';
import { choiceField, numberField, required, textField } from './arguments.ts';
import { changeCommand, type Phrase, type PhraseState, type ResolvedValues } from './define.ts';
import { affected, planned, scopeFields, scopePhrase } from './freeze.ts';
import { SIZING } from './service-scale.ts';

/** What can be allowed: operations of services whose values have a limit, or that have none. */
const ACTIONS = {
  scale: ['service scale'],
  start: ['service start'],
  stop: ['service stop'],
  'start and stop': ['service start', 'service stop'],
} as const;
const NAMES = ['scale', 'start', 'stop', 'start and stop'] as const;

/** `service scale`, `stop`, `start and stop`: what is allowed, then of what. */
function allowPhrase(words: readonly string[], so: PhraseState): Phrase | null {
  if (so.given.action !== undefined) return scopePhrase(words, so);
  const [found = ''] =
    /^(service )?(start|stop)( and |, ?| ?\+ ?| )(service )?(start|stop)\b|^(service )?(scale|start|stop)\b/i.exec(
      words.join(' '),
    ) ?? [];
  const named = NAMES.filter((name) => found.toLowerCase().includes(name));
  const action = named.length > 1 ? 'start and stop' : named[0];
  return action ? { taken: found.trim().split(/\s+/).length, given: { action } } : null;
}

const DAY = spanSchema('1h', '14d', '7d');

const args = z.strictObject({
  action: required(
    choiceField(z.enum(NAMES), () => NAMES, { label: 'What to allow', redraws: true }),
  ),
  ...scopeFields({ label: 'Of which services', isPart: true }),
  maxReplicaMemoryGb: SIZING.maxReplicaMemoryGb,
  numReplicas: SIZING.numReplicas,
  uses: numberField(z.int().min(1).max(MOST_USES), {
    word: 'uses',
    synonyms: ['times'],
    label: 'Uses',
    hint: `1 to ${MOST_USES}; leave empty for ${USUAL_USES}`,
    min: 1,
    max: MOST_USES,
  }),
  for: textField(DAY, {
    word: 'for',
    label: 'For how long',
    hint: '1h to 14d from its approval; leave empty for 7d',
    reads: typedSpan,
  }),
});
type Arguments = ResolvedValues<typeof args>;

export const changeAllow = changeCommand({
  name: 'change allow',
  program: 'none',
  title: 'Allow repeated changes',
  summary: 'Request a standing approval: some uses of a command, within limits',
  examples: [
    'change allow service scale analytics-prod max=128 uses=5 for=7d month-end load',
    'change allow start and stop tag=prod uses=20 for=14d failover drills',
  ],
  args,
  call: 'PUT standing approval',
  needsReason: true,
  phrase: allowPhrase,
  hasField: (field, { given: { action = '' } }) =>
    !/^start|^stop/.test(action) || !['maxReplicaMemoryGb', 'numReplicas'].includes(field),

  problems: (args, _before, { services }) => {
    const scope = scopeOf(args);
    if (!scope || 'everything' in scope) return [ONE_PART];
    if (servicesIn(scope, services).length === 0) return [NO_SERVICE];
    const { action, maxReplicaMemoryGb, numReplicas } = args;
    const isLimited = (maxReplicaMemoryGb ?? numReplicas) !== undefined;
    return action === 'scale' && !isLimited ? [NO_LIMIT] : [];
  },
  target: (args, { services }) => allowedTarget(bodyFor(args), services),
  desired: bodyFor,
  covers: (body, { services }) => allowedPairs(body, services),
  rows: (args) => {
    const { uses, forMs, maxReplicaMemoryGb: memory, numReplicas } = bodyFor(args);
    const rows = [
      { field: 'uses', label: 'Uses', after: uses },
      { field: 'for', label: 'In force for', after: `${spanText(forMs)} from its approval` },
      { field: 'maxReplicaMemoryGb', label: 'Largest memory (GB)', after: memory ?? null },
      { field: 'numReplicas', label: 'Most replicas', after: numReplicas ?? null },
    ];
    return rows.flatMap((row) => (row.after === null ? [] : [{ ...row, before: null }]));
  },
  warnings: (args, _before, { services }) => {
    const { commands, scope } = bodyFor(args);
    return [
      `Each use runs without another approval, by anyone who may request “${commands.join('” or “')}”.`,
      ...('service' in scope ? [] : [affected(servicesIn(scope, services))]),
    ];
  },
  own: 'allow',
  outcome: { done: 'allowed' },
  endingNote: 'In force. Each use is a change of its own, and is checked again before it runs.',
});

// Concerns several fields, as that of a freeze.
const ONE_PART = {
  field: '',
  problem: 'Choose exactly one of: a service, a tag or a warehouse.',
};
const NO_SERVICE = { field: 'scope', problem: 'has no service in signalbox.yaml' };
const NO_LIMIT = {
  field: 'maxReplicaMemoryGb',
  problem: 'is missing: set the largest memory, the most replicas, or both',
};

function bodyFor(args: Arguments) {
  const { action, maxReplicaMemoryGb, numReplicas } = args;
  return {
    commands: [...ACTIONS[action]],
    scope: planned(args),
    uses: args.uses ?? USUAL_USES,
    forMs: args.for ?? DAY.parse('7d'),
    ...(maxReplicaMemoryGb !== undefined && { maxReplicaMemoryGb }),
    ...(numReplicas !== undefined && { numReplicas }),
  } satisfies JsonObject;
}

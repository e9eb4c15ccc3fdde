import type { SourceHook } from '../processes/source-hook.ts';

export interface Control extends SourceHook {
  /** What Signalbox does, in plain words. It stays when the code behind it is rewritten. */
  readonly behaviour: string;
  /** The plausible mistake that `put` makes. */
  readonly defect: string;
  /** The test file that must fail with the mistake, and a part of the message that it must report. */
  readonly test: string;
  readonly reports: RegExp;
}

const SIMULATION = 'test/chaos/simulation.test.ts';
const MODEL = 'test/chaos/model.test.ts';

/**
 * The behaviours that the controls cover, by promise. Each is hooked into the source by its text alone, wherever
 * in `src` it stands; exactly one place must have it. The patterns name as few identifiers as possible, with any
 * spaces between them and any end of a name, so that a file may be formatted, merged or moved.
 */
const PROMISES: Readonly<Record<string, readonly Control[]>> = {
  'who may': [
    {
      behaviour: 'a requester cannot approve the own change',
      defect: 'a requester may approve the own change',
      find: /by === requester && !requires\.self \? 'self-approval' : null/,
      put: 'null',
      test: SIMULATION,
      reports: /approved by its requester/,
    },
    {
      behaviour: 'only an approver can approve',
      defect: 'anyone who presses Approve may approve',
      find: /(\bapprove =\s*press\(\s*\[[^\]]*),\s*byDecider\w*\]/,
      put: '$1]',
      test: SIMULATION,
      reports: /never was an approver/,
    },
    {
      behaviour: 'the policy decides again right before the request',
      defect: 'the claim does not repeat the decision',
      find: /const (\w+)\s*=\s*(claimRefusal\w*\([^;]+\));/,
      put: 'const $1 = [$2].find(() => false) ?? null;',
      test: MODEL,
      reports: /although it is frozen|may not ask now|without enough approvals|over an edit/,
    },
    {
      behaviour: 'identities and roles are read again right before the request',
      defect: 'the claim uses cached identities and roles',
      find: /(identitiesOf\w*\(\s*\w+,\s*\w+,\s*)\{\s*fresh:\s*true,\s*since,?\s*\}/,
      put: '$1{ fresh: false }',
      test: SIMULATION,
      reports: /without asking who|may not ask now|without enough approvals/,
    },
    {
      behaviour: 'the current tags of the target decide',
      defect: 'the claim uses the tags of the stored plan',
      find: /await (ruleFacts\w*\(\s*\{[^;]+,\s*change,?\s*\));/,
      put: '{ ...(await $1), target: change.plan.target };',
      test: 'test/scenarios/retagged.test.ts',
      reports: /AssertionError|deep equally contain/,
    },
    {
      behaviour: 'a freeze stops changes',
      defect: 'a freeze has no effect',
      find: /if\s*\(\w+\)\s*return\s+deny\w*\(\s*'frozen',[^;]+;/,
      put: '',
      test: MODEL,
      reports: /although it is frozen/,
    },
    {
      behaviour: 'only the latest configuration executes changes',
      defect: 'an outdated configuration executes changes',
      find: /if\s*\(\s*!\w+\.mayExecute\s*\)\s*return [^;]+;/,
      put: '',
      test: 'test/workflow/claim.test.ts',
      reports: /AssertionError/,
    },
  ],
  'as previewed': [
    {
      behaviour: 'a target that was edited after the preview stops the change',
      defect: 'the claim does not compare the target with the preview',
      find: /if\s*\(\s*\w+\.differs\s*\)\s+return 'target-changed';/,
      put: '',
      test: MODEL,
      reports: /over an edit that nobody had seen/,
    },
    {
      behaviour: 'a change that ran after the preview stops a change of the same target',
      defect: 'the claim overlooks changes that ran meanwhile',
      find: /\(await\s+\w+\(\s*\w+,\s*change,?\s*\)\)\s*\?\s*'changed since the preview'\s*:\s*/,
      put: '',
      test: MODEL,
      reports: /another change ran since/,
    },
  ],
  'sent once': [
    {
      behaviour: 'a takeover does not send the request again',
      defect: 'a takeover sends the request again',
      find: /(lease\.until\s*\)\s*return\s+refuse\w*\('too-early'\);)/,
      put: "$1\n    if (!isOver) return { type: 'not-sent', nonce: change.lease?.nonce ?? '-', why: '', notBefore: now };",
      test: MODEL,
      reports: /sent twice|still locked/,
    },
    {
      behaviour: 'a write is not repeated after a server error',
      defect: 'a write is repeated after a server error',
      find: /\w+\.method\s*===\s*'GET'\s*\?\s*(retryDelay\w*\([^;:]+\))\s*:\s*null/,
      put: '$1',
      test: 'test/base/client.test.ts',
      reports: /AssertionError|expected an ApiError/,
    },
  ],
  witnessed: [
    {
      behaviour: 'a request is sent only if the thread agrees with the log',
      defect: 'the thread is not asked before a request',
      find: /(const problem = )await\s+\w+\(context,\s*\w+,\s*\w+,?\s*\);/,
      put: '$1null;',
      test: 'test/workflow/claim.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'after a rollback, what people saw stops a request',
      defect: 'after a rollback, the log is believed as it is',
      find: /return\s+seen\.filter\(\(\{\s*hash\s*\}\)\s*=>\s*!\w+\.has\(hash\)\);/,
      put: 'return [];',
      // Whether walks meet it depends on their seed.
      test: 'test/workflow/claim.test.ts',
      reports: /command: 'service stop'/,
    },
    {
      behaviour: 'a claim whose commit had no answer sends nothing',
      defect: 'a claim whose commit had no answer is left to its lease',
      find: /if\s*\(\w+\?\.owner\s*!==\s*context\.instance\)/,
      put: 'if (lease)',
      test: 'test/workflow/outcome.test.ts',
      reports: /AssertionError/,
    },
  ],
  'taken over': [
    {
      behaviour: 'the work of a crashed process is taken over',
      defect: 'a crashed process is never taken over',
      find: /return\s*\[\s*job\w*\(\s*'lost',[^;]+;/,
      put: 'return [];',
      test: SIMULATION,
      reports: /still executing/,
    },
    {
      behaviour: 'a start on SQLite takes over at once',
      defect: 'a start on SQLite waits for the leases of the killed process',
      find: /if\s*\(takesOver\)/,
      put: 'if (false)',
      test: 'test/scenarios/take-over.test.ts',
      reports: /StringContaining/,
    },
  ],
  locked: [
    {
      behaviour: 'an unknown outcome keeps its target locked',
      defect: 'an unknown outcome releases its target',
      find: /(return\s+\w+\.includes\(before\.state\)\s*&&)\s*!\w+\.includes\(after\.state\)/,
      put: "$1 after.state !== 'executing'",
      test: SIMULATION,
      reports: /unknown outcome, and not locked/,
    },
    {
      behaviour: 'a refused request releases its target',
      defect: 'a refused request keeps its target locked',
      find: /(return\s+\w+\.includes\(before\.state\)\s*&&)\s*!\w+\.includes\(after\.state\)/,
      put: "$1 after.state === 'succeeded'",
      test: SIMULATION,
      reports: /still locked/,
    },
    {
      behaviour: 'of two changes of a target, one waits for the other',
      defect: 'the claim does not ask who holds the target',
      find: /if\s*\([^;{}]+\s+return 'held by another';/,
      put: '',
      test: MODEL,
      reports: /another outcome is unknown|another change ran since/,
    },
  ],
  forged: [
    {
      behaviour: 'an event needs the signature of the key',
      defect: 'an event is accepted without its signature',
      find: /if\s*\(key\s*&&\s*isSignedBy\w*\([^;]+\)\)\s*return;/,
      put: 'if (key) return;',
      test: 'test/log/damaged-log.test.ts',
      reports: /AssertionError|instead of rejecting/,
    },
    {
      behaviour: 'an end of the log that was cut off is found',
      defect: 'marks that people saw are not looked for in the log',
      find: /return\s+seen\.filter\(\(\{\s*hash\s*\}\)\s*=>\s*!\w+\.has\(hash\)\);/,
      put: 'return [];',
      test: 'test/scenarios/attacks.test.ts',
      reports: /to contain 'the database was restored'/,
    },
    {
      behaviour: 'an event that this process knows is not missing',
      defect: 'a subject that lost its last events is believed',
      find: /if\s*\(known\s*&&[^;{}]+\{\s*throw\s+new\s+\w+\([^;]+;\s*\}/,
      put: '',
      test: 'test/log/damaged-log.test.ts',
      reports: /AssertionError|instead of rejecting/,
    },
    {
      behaviour: 'an edited record is not executed',
      defect: 'the text of an event that was modified in the database is accepted',
      find: /if\s*\(hashText\w*\(body\)[^;]+;/,
      put: '',
      test: 'test/log/damaged-log.test.ts',
      reports: /AssertionError|instead of rejecting/,
    },
    {
      behaviour: 'a press counts only from a message with this button',
      defect: 'a press from any place is handled',
      find: /if\s*\(!\(await\s+isPlace\w*\([^;{}]+\)\)\)\s*\{/,
      put: 'if (false) {',
      test: 'test/workflow/press.test.ts',
      reports: /AssertionError/,
    },
  ],
  recorded: [
    {
      behaviour: 'the answer to each press is in the log',
      defect: 'the answer to an approval is not recorded',
      find: /events: \[(\{\s*stream,\s*event\s*\})\], jobs: waits/,
      put: "events: press.verb === 'approve' ? [] : [$1], jobs: waits",
      test: 'test/workflow/press.test.ts',
      reports: /expected \+0 to be 1/,
    },
    {
      behaviour: 'an unknown outcome is recorded as unknown',
      defect: 'an unknown outcome is recorded as a failure',
      find: /\w+\.effect\s*===\s*'refused'\s*\?\s*'failed'\s*:\s*'unknown'/,
      put: "'failed'",
      test: SIMULATION,
      reports: /“failed” with an effect/,
    },
  ],
  'at the same time': [
    {
      behaviour: 'two writers append to the log one after the other',
      defect: 'the end of the log is read without the lock',
      find: /if\s*\(\w+\.engine\s*===\s*'postgres'\)\s+await\s+sql`select pg_advisory_xact_lock\([^;]+;(?=\s+return body)/,
      put: '',
      test: 'test/log/append-events.test.ts',
      // The numbers keep the log intact: the writer that loses the race is refused.
      reports: /has no version|duplicate key/,
    },
    {
      behaviour: 'an old press does not replace a newer decision',
      defect: 'a press is decided with the change as it was before the lookup of its user',
      find: /(const known = \{ early: null, identity, requester, lookUp, standing)( \};[\s\S]*?const before = )await \w+\(locked, id\);/,
      put: '$1, change$2 known.change;',
      test: 'test/workflow/press.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'a standing approval is used as often as people agreed',
      defect: 'the gate does not count the uses',
      find: /if \(left === 0 && !isCounted\(standing, use\)\) return 'standing-used';/,
      put: '',
      test: 'test/domain/standing.test.ts',
      reports: /standing-used/,
    },
    {
      behaviour: 'a database that went back gives no use back that was sent',
      defect: 'a request is sent before the thread of its standing approval shows the use',
      find: /if \(!\(await isUseShown\(context, change\)\)\) return [^;]+;/,
      put: '',
      test: 'test/chaos/standing.test.ts',
      reports: /commits lost/,
    },
    {
      behaviour: 'an approver never approves more than was requested',
      defect: 'the gate does not compare the plan of an approver with the requested one',
      find: /if \(refused\) return refuse\(refused\.refusal\);/,
      put: '',
      test: 'test/domain/narrow.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'an approval counts for the plan that the person saw, or a narrower one',
      defect: 'an approval of another plan counts',
      find: /coversPlan\(change, event\.digest\) \? (.*) : \{\};/,
      put: '$1;',
      test: 'test/domain/narrow.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'a change with a press that is not answered is not claimed',
      defect: 'the claim does not wait for a press that may end the change',
      find: /if\s*\(\s*!\w+\.isAnswered\s*\)\s*return [^;]+;/,
      put: '',
      test: 'test/workflow/claim.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'a job that is requested while it runs is run again',
      defect: 'the end of a job ends a later request as well',
      find: /(lease_owner = \$\{owner\})\s+and\s+asked = \$\{asked\}/,
      put: '$1',
      test: 'test/storage/jobs.test.ts',
      reports: /AssertionError/,
    },
  ],
  shown: [
    {
      behaviour: 'a card shows the current state',
      defect: 'an existing card is not redrawn',
      find: /if\s*\(change\.card\)\s*return\s+draw\w+\([^;]+;(?=\s+await)/,
      put: "if (change.card) return 'done';",
      test: SIMULATION,
      reports: /its card shows an older state/,
    },
    {
      behaviour: 'a card is not drawn over what the log has lost',
      defect: 'a card is drawn without a look at what it shows',
      find: /if\s*\(await\s+\w+\(\w+,\s*loaded,[^;]+;/,
      put: '',
      test: 'test/workflow/cards.test.ts',
      reports: /AssertionError/,
    },
  ],
  'posted once': [
    {
      behaviour: 'a change has one card, also after a retry',
      defect: 'a retry posts a card without a search for the first one',
      find: /\bagain:\s*attempts\s*>\s*1/,
      put: 'again: false',
      // In the simulation, the look at the channels at the start finds the first card as well.
      test: 'test/workflow/jobs.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'a digest is posted once',
      defect: 'a digest is posted again where its first post had no answer',
      find: /if\s*\(\w+\?\.state\s*===\s*'posting'\)\s*return\s+[^;]+;/,
      put: '',
      test: 'test/log/post-once-per-name.test.ts',
      reports: /AssertionError/,
    },
  ],
};

export const CONTROLS: readonly (Control & { readonly promise: string })[] = Object.entries(
  PROMISES,
).flatMap(([promise, controls]) => controls.map((control) => ({ promise, ...control })));

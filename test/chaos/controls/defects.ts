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
      find: /if\s*\([^;{}]+\s+return 'self-approval';/,
      put: '',
      test: SIMULATION,
      reports: /approved by its requester/,
    },
    {
      behaviour: 'only an approver can approve',
      defect: 'anyone who presses Approve may approve',
      find: /(\bapprove:\s*\[[^\]]*),\s*byDecider\w*\]/,
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
      find: /\.identify\(\s*(\w+),\s*\{\s*fresh:\s*true,\s*since,?\s*\},?\s*\)/,
      put: '.identify($1, { fresh: false })',
      test: SIMULATION,
      reports: /without asking who|may not ask now|without enough approvals/,
    },
    {
      behaviour: 'the current tags of the target decide',
      defect: 'the claim uses the tags of the stored plan',
      find: /currentTarget\w*\(\s*directory\w*,\s*(change\.plan),?\s*\)/,
      put: '$1.target',
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
      test: 'test/workflow/outdated.test.ts',
      reports: /AssertionError/,
    },
  ],
  'as previewed': [
    {
      behaviour: 'a target that was edited after the preview stops the change',
      defect: 'the claim does not compare the target with the preview',
      find: /if\s*\(\s*\w+\.fields\s*&&[^;{}]+\s+return 'target-changed';/,
      put: '',
      test: MODEL,
      reports: /over an edit that nobody had seen/,
    },
    {
      behaviour: 'a change that ran after the preview stops a change of the same target',
      defect: 'the claim overlooks changes that ran meanwhile',
      find: /(const later\s*=\s*await\s+\w+\(\s*tx,\s*\w+),\s*change,?\s*\)/,
      put: '$1, { ...change, createdAt: context.now() })',
      test: MODEL,
      reports: /another change ran since/,
    },
  ],
  'sent once': [
    {
      behaviour: 'a takeover does not send the request again',
      defect: 'a takeover sends the request again',
      find: /(lease\.until\s*\)\s*return\s+refuse\w*\('too-early'\);)/,
      put: "$1\n    if (!isOver) return { type: 'not-sent', notBefore: now };",
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
  'taken over': [
    {
      behaviour: 'the work of a crashed process is taken over',
      defect: 'a crashed process is never taken over',
      find: /(await\s+expiredLeases\w*\(\s*[\w.]+),\s*[\w.]+\(\),/,
      put: '$1, new Date(0),',
      test: SIMULATION,
      reports: /still executing/,
    },
    {
      behaviour: 'a start on SQLite takes over at once',
      defect: 'a start on SQLite waits for the leases of the killed process',
      find: /if\s*\(\w+\.takesOver\)\s*await\s+takeOver\w*\(\w+\);/,
      put: '',
      test: 'test/scenarios/take-over.test.ts',
      reports: /StringContaining/,
    },
  ],
  locked: [
    {
      behaviour: 'an unknown outcome keeps its target locked',
      defect: 'an unknown outcome releases its target',
      find: /if\s*\(\w+\.how\s*!==\s*'unknown'\)\s*(\w+\.push\()/,
      put: '$1',
      test: SIMULATION,
      reports: /in doubt, and not locked|unknown outcome, and not locked/,
    },
    {
      behaviour: 'a refused request releases its target',
      defect: 'a refused request keeps its target locked',
      find: /if\s*\((\w+)\.how\s*!==\s*'unknown'\)\s*(\w+\.push\()/,
      put: "if ($1.how === 'succeeded') $2",
      test: SIMULATION,
      reports: /still locked/,
    },
  ],
  forged: [
    {
      behaviour: 'an event of the audit trail needs the key',
      defect: 'the audit trail can be forged without the key',
      find: /createHmac\(\s*'sha256',\s*key,?\s*\)\s*:/,
      put: "createHash('sha256') :",
      test: 'test/log/append.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'an end of the trail that was cut off is found',
      defect: 'an anchor in the audit channel needs no signature',
      find: /if\s*\(\s*!\w+\.some\(\s*\((\w+)\)\s*=>\s*isSame\w*\(\w+,\s*\1\),?\s*\)\s*\)\s*return null;/,
      put: '',
      test: 'test/workflow/anchors.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'an edited record is not executed',
      defect: 'a change that was modified in the database is accepted',
      find: /return\s+(\w+)\s*\?\s*null\s*:\s*'audit-mismatch';/,
      put: 'return $1 ? null : null;',
      test: 'test/log/matches-audit-trail.test.ts',
      reports: /AssertionError/,
    },
    {
      behaviour: 'a forged press is not handled',
      defect: 'a stored click is not verified',
      find: /if\s*\(\w+\.problem\)\s*return\s+await\s+[^;]+;/,
      put: '',
      test: 'test/workflow/reject-stored-click.test.ts',
      reports: /AssertionError/,
    },
  ],
  recorded: [
    {
      behaviour: 'every approval is in the audit trail',
      defect: 'some approvals are missing from the audit trail',
      find: /(await\s+appendAfter\w*\(\s*tx,\s*[\w.]+,\s*\w+\.head\(\),\s*\{\s*kind:\s*\w+\.kind,)/,
      put: 'if (after.version % 4 !== 0) $1',
      test: SIMULATION,
      reports: /has events for/,
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
      behaviour: 'two writers append to the trail one after the other',
      defect: 'the end of the audit trail is read without a lock',
      find: /(selectFrom\('audit_head'\)[^;]+)\.forUpdate\(\)/,
      put: '$1',
      test: 'test/chaos/together.test.ts',
      // The sequence numbers keep the chain intact; the writer that loses the race is refused.
      reports: /to have a length of/,
    },
    {
      behaviour: 'two at once: a decision waits for the other one of its change',
      defect: 'the row is not locked before it is read',
      find: /(selectFrom\('change'\)[^;]+)\.forUpdate\(\)/,
      put: '$1',
      test: 'test/log/changes.test.ts',
      reports: /is not pending any more/,
    },
    {
      behaviour: 'an old press does not replace a newer decision',
      defect: 'a transition is stored on top of any version',
      find: /(\.where\('state',\s*'=',\s*state\))\s*\.where\('version',\s*'=',\s*version\)/,
      put: '$1',
      test: 'test/log/changes.test.ts',
      reports: /instead of rejecting/,
    },
  ],
  shown: [
    {
      behaviour: 'a card shows the current state',
      defect: 'an existing card is not redrawn',
      find: /if\s*\(\w+\.again\)\s*await\s+[\w.]+\.redrawCard\(\s*change,\s*\w+,?\s*\);/,
      put: '',
      test: SIMULATION,
      reports: /its card shows an older state/,
    },
  ],
  'posted once': [
    {
      behaviour: 'a change has one card, also after a retry',
      defect: 'a retry posts a card without a search for the first one',
      find: /=\s*\{\s*again:\s*attempts\s*>\s*1,?\s*\}/,
      put: '= { again: false }',
      test: SIMULATION,
      reports: /it has 2 cards/,
    },
    {
      behaviour: 'a digest is posted once',
      defect: 'a digest is posted without a permit',
      find: /if\s*\(\s*!\(\s*(await\s+[\w.]+\.transaction\(\s*(\w+)\.permit,?\s*\))\s*\)\s*\)/,
      put: "$1; if ($2.subject === '')",
      test: 'test/costs/run.test.ts',
      reports: /AssertionError|expected an ApiError/,
    },
  ],
};

export const CONTROLS: readonly (Control & { readonly promise: string })[] = Object.entries(
  PROMISES,
).flatMap(([promise, controls]) => controls.map((control) => ({ promise, ...control })));

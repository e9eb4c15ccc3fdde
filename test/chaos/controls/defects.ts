/** A replacement of source text. `find` must match exactly once; `put` may use `$1`. */
export interface Replacement {
  readonly name: string;
  readonly file: string;
  readonly find: RegExp;
  readonly put: string;
}

/** A plausible mistake in the source that the tests must find. */
export interface Defect extends Replacement {
  /** The test file that must fail, and a part of the message that it must report. */
  readonly test: string;
  readonly reports: RegExp;
}

/** A mistake that a second layer compensates: the tests must stay green with it. */
export interface HarmlessDefect extends Replacement {
  readonly test: string;
  readonly compensatedBy: string;
}

const SIMULATION = 'test/chaos/simulation.test.ts';
const MODEL = 'test/chaos/model.test.ts';
const LIFECYCLE = 'src/changes/lifecycle.ts';
const EXECUTE = 'src/workflow/execute/execute.ts';
const CLAIM_REFUSAL = 'src/workflow/execute/claim-refusal.ts';
const SEND = 'src/workflow/execute/send.ts';

// The patterns name as few identifiers as possible, so that a rename rarely breaks them.
export const DEFECTS: readonly Defect[] = [
  {
    name: 'a takeover sends the request again',
    file: 'src/changes/after-outcome.ts',
    find: /(return refuse\('too-early'\);)/,
    put: "$1\n  if (now) return move({ ...change, lease: null, state: 'approved' });",
    test: MODEL,
    reports: /sent twice|still locked/,
  },
  {
    name: 'a write is repeated after a server error',
    file: 'src/http/client.ts',
    find: /\w+\.method === 'GET' \? (retryDelay\(.+\)) : null/,
    put: '$1',
    test: 'test/http/client.test.ts',
    reports: /AssertionError|expected an ApiError/,
  },
  {
    name: 'the claim does not repeat the decision',
    file: EXECUTE,
    find: /const refusal = (claimRefusal\([^;]+\));/,
    put: 'const refusal = [$1].find(() => false) ?? null;',
    test: MODEL,
    reports: /although it is frozen|may not ask now|without enough approvals|over an edit/,
  },
  {
    name: 'an outdated configuration executes changes',
    file: EXECUTE,
    find: /if \(!\w+\.mayExecute\(\)\) return 'later';/,
    put: '',
    test: 'test/workflow/execute/outdated.test.ts',
    reports: /AssertionError/,
  },
  {
    name: 'a start on SQLite waits for the leases of the killed process',
    file: 'src/bot.ts',
    find: /if \(options\.takesOver\) await takeOver\(context\);/,
    put: '',
    test: 'test/scenarios/take-over.test.ts',
    reports: /StringContaining/,
  },
  {
    name: 'an anchor in the audit channel needs no signature',
    file: 'src/storage/audit/anchor.ts',
    find: /if \(!expected\.some\(\(one\) => isSame\(signed, one\)\)\) return null;/,
    put: '',
    test: 'test/workflow/audit-trail/anchors.test.ts',
    reports: /AssertionError/,
  },
  {
    name: 'a stored click is not verified',
    file: 'src/workflow/review/handle-inbox.ts',
    find: /if \(row\.problem\) return await [^;]+;/,
    put: '',
    test: 'test/workflow/review/reject-stored-click.test.ts',
    reports: /AssertionError/,
  },
  {
    name: 'the claim uses the tags of the stored plan',
    file: EXECUTE,
    find: /currentTarget\(directory, (change\.plan)\)/,
    put: '$1.target',
    test: 'test/scenarios/retagged.test.ts',
    reports: /AssertionError|deep equally contain/,
  },
  {
    name: 'a freeze has no effect',
    file: 'src/policy/decide.ts',
    find: /if \(freeze\) return deny\('frozen', [^;]+;/,
    put: '',
    test: MODEL,
    reports: /although it is frozen/,
  },
  {
    name: 'the claim uses cached identities and roles',
    file: EXECUTE,
    find: /\{ fresh: true \}/,
    put: '{ fresh: false }',
    test: SIMULATION,
    reports: /without asking who|may not ask now|without enough approvals/,
  },
  {
    name: 'anyone who presses Approve may approve',
    file: LIFECYCLE,
    find: /return \w+\(change, approver, now\) \? null : 'not-an-approver';/,
    put: 'return null;',
    test: SIMULATION,
    reports: /never was an approver/,
  },
  {
    name: 'a requester may approve the own change',
    file: LIFECYCLE,
    find: /if \([^;]+ return 'self-approval';/,
    put: '',
    test: SIMULATION,
    reports: /approved by its requester/,
  },
  {
    name: 'some approvals are missing from the audit trail',
    file: 'src/workflow/record.ts',
    find: /(await appendAfter\(tx, [\w.]+, end\.head\(\), \{\s+kind: \w+\.kind,)/,
    put: 'if (after.version % 4 !== 0) $1',
    test: SIMULATION,
    reports: /has events for/,
  },
  {
    name: 'the audit trail can be forged without the key',
    file: 'src/storage/audit/chain.ts',
    find: /createHmac\('sha256', key\) :/,
    put: "createHash('sha256') :",
    test: 'test/storage/audit/append.test.ts',
    reports: /AssertionError/,
  },
  {
    name: 'a change that was modified in the database is accepted',
    file: 'src/storage/audit/matches-audit-trail.ts',
    find: /return isSame \? null : 'audit-mismatch';/,
    put: 'return isSame ? null : null;',
    test: 'test/storage/audit/matches-audit-trail.test.ts',
    reports: /AssertionError/,
  },
  {
    name: 'an unknown outcome is recorded as a failure',
    file: SEND,
    find: /error\.effect === 'refused' \? 'failed' : 'unknown'/,
    put: "'failed'",
    test: SIMULATION,
    reports: /“failed” with an effect/,
  },
  {
    name: 'an unknown outcome releases its target',
    file: SEND,
    find: /if \(\w+\.how !== 'unknown'\) (also\.push)/,
    put: '$1',
    test: SIMULATION,
    reports: /in doubt, and not locked|unknown outcome, and not locked/,
  },
  {
    name: 'a refused request keeps its target locked',
    file: SEND,
    find: /if \((\w+)\.how !== 'unknown'\) (also\.push)/,
    put: "if ($1.how === 'succeeded') $2",
    test: SIMULATION,
    reports: /still locked/,
  },
  {
    name: 'the claim overlooks changes that ran meanwhile',
    file: EXECUTE,
    find: /await readingChangeSincePlan\(tx, (\w+), change\)/,
    put: 'await readingChangeSincePlan(tx, $1, { ...change, createdAt: now })',
    test: MODEL,
    reports: /another change ran since/,
  },
  {
    name: 'the claim does not compare the target with the preview',
    file: CLAIM_REFUSAL,
    find: /if \(\w+\.target && [^;]+ return 'target-changed';/,
    put: '',
    test: MODEL,
    reports: /over an edit that nobody had seen/,
  },
  {
    name: 'an existing card is not redrawn',
    file: 'src/workflow/notify/deliver.ts',
    find: /if \(\w+\.again\) await [\w.]+\.redrawCard\(change, position\);/,
    put: '',
    test: SIMULATION,
    reports: /its card shows an older state/,
  },
  {
    name: 'a retry posts a card without a search for the first one',
    file: 'src/workflow/notify/deliver.ts',
    find: /again: attempts > 1/,
    put: 'again: false',
    test: SIMULATION,
    reports: /it has 2 cards/,
  },
  {
    name: 'a crashed process is never taken over',
    file: 'src/workflow/execute/recover.ts',
    find: /(await expiredLeases\([\w.]+), [\w.]+\(\),/,
    put: '$1, new Date(0),',
    test: SIMULATION,
    reports: /still executing/,
  },
  {
    name: 'a digest is posted without a permit',
    file: 'src/workflow/notify/post-once.ts',
    find: /if \(!\((await [\w.]+\.transaction\((\w+)\.permit\))\)\) /,
    put: "$1; if ($2.subject === '') ",
    test: 'test/digests/run.test.ts',
    reports: /AssertionError|expected an ApiError/,
  },
  {
    name: 'the end of the audit trail is read without a lock',
    file: 'src/storage/audit/append.ts',
    find: /\.forUpdate\(\)/,
    put: '',
    test: 'test/chaos/together.test.ts',
    // The sequence numbers keep the chain intact; the writer that loses the race is refused.
    reports: /to have a length of/,
  },
];

export const HARMLESS: readonly HarmlessDefect[] = [
  {
    name: 'the row is not locked before it is read',
    file: 'src/storage/tables/changes/changes.ts',
    find: /\.forUpdate\(\)/,
    put: '',
    test: 'test/chaos/together.test.ts',
    compensatedBy: 'a transition is stored only on top of the version it was made from',
  },
  {
    name: 'a transition is stored on top of any version',
    file: 'src/storage/tables/changes/changes.ts',
    find: /\.where\('version', '=', version\)/,
    put: '',
    test: 'test/chaos/together.test.ts',
    compensatedBy: 'the row is locked before it is read',
  },
];

/** A mistake that somebody could make, put into the source as it is read. */
export interface Defect {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** The test that has to go red, and a part of what its judge has to say. */
  readonly test: string;
  readonly says: RegExp;
}

const SIMULATION = 'test/chaos/simulation.test.ts';
const MODEL = 'test/chaos/model.test.ts';
const LIFECYCLE = 'src/changes/lifecycle.ts';
const EXECUTE = 'src/workflow/execute/execute.ts';
const SEND = 'src/workflow/execute/send.ts';

export const DEFECTS: readonly Defect[] = [
  {
    name: 'a takeover sends again',
    file: 'src/changes/after-outcome.ts',
    find: "const text = 'Signalbox stopped while the request was under way.';",
    put: "if (now) return move({ ...change, lease: null, state: 'approved' });\n  const text = '';",
    test: MODEL,
    says: /sent twice|still locked/,
  },
  {
    name: 'a write is sent again after an error of the server',
    file: 'src/http/client.ts',
    find: "call.method === 'GET' ? waitBeforeRepeat(outcome, attempt, clock.random()) : null;",
    put: 'waitBeforeRepeat(outcome, attempt, clock.random());',
    test: 'test/http/client.test.ts',
    says: /AssertionError|expected an ApiError/,
  },
  {
    name: 'nothing is decided again at the claim',
    file: EXECUTE,
    find: 'const refusal = refusalNow(policy, change, gathered, now);',
    put: 'const refusal = [refusalNow(policy, change, gathered, now)].find(() => false) ?? null;',
    test: MODEL,
    says: /although it is frozen|may not ask now|without enough approvals|over an edit/,
  },
  {
    name: 'a freeze does not hold',
    file: 'src/policy/decide.ts',
    find: "if (freeze) return deny('frozen', rule, { freeze });",
    put: '',
    test: MODEL,
    says: /although it is frozen/,
  },
  {
    name: 'people are taken at the claim for what they were a minute ago',
    file: EXECUTE,
    find: 'world.people.identify(user, { fresh: true })',
    put: 'world.people.identify(user, { fresh: false })',
    test: SIMULATION,
    says: /without asking who|may not ask now|without enough approvals/,
  },
  {
    name: 'whoever presses may approve',
    file: LIFECYCLE,
    find: "return mayDecide(change, approver, now) ? null : 'not-an-approver';",
    put: 'return null;',
    test: SIMULATION,
    says: /never was an approver/,
  },
  {
    name: 'a requester may approve',
    file: LIFECYCLE,
    find: "if (approver.id === change.requester && !change.requires.self) return 'self-approval';",
    put: '',
    test: SIMULATION,
    says: /approved by its requester/,
  },
  {
    name: 'an approval is left out of the audit trail now and then',
    file: 'src/workflow/record.ts',
    find: '  await appendEvent(tx, context.auditKey, {\n    kind: deed.kind,',
    put: `  if (after.version % 4 !== 0) await appendEvent(tx, context.auditKey, {
    kind: deed.kind,`,
    test: SIMULATION,
    says: /has events for/,
  },
  {
    name: 'whoever owns the database can write the audit trail anew',
    file: 'src/storage/audit/chain.ts',
    find: "key ? createHmac('sha256', key) : createHash('sha256');",
    put: "createHash(key ? 'sha256' : 'sha256');",
    test: 'test/storage/audit/append.test.ts',
    says: /AssertionError/,
  },
  {
    name: 'what nobody knows is called a failure',
    file: SEND,
    find: "const how = error.effect === 'refused' ? 'failed' : 'unknown';",
    put: "const how = 'failed';",
    test: SIMULATION,
    says: /“failed” with an effect/,
  },
  {
    name: 'a doubt lets go of its target',
    file: SEND,
    find: "if (ending.how !== 'unknown') await releaseTarget(tx, change.id);",
    put: 'await releaseTarget(tx, change.id);',
    test: SIMULATION,
    says: /in doubt, and not locked/,
  },
  {
    name: 'a refusal keeps its target',
    file: SEND,
    find: "if (ending.how !== 'unknown') await releaseTarget(tx, change.id);",
    put: "if (ending.how === 'succeeded') await releaseTarget(tx, change.id);",
    test: SIMULATION,
    says: /still locked/,
  },
  {
    name: 'nobody looks what else ran meanwhile',
    file: EXECUTE,
    find: 'if (await ranSince(tx, target, change)) {',
    put: 'if (await ranSince(tx, target, { ...change, createdAt: now })) {',
    test: MODEL,
    says: /another change ran since/,
  },
  {
    name: 'the target is not read again before it is written to',
    file: EXECUTE,
    find: "if (gathered.digest !== change.digest) return 'target-moved';",
    put: '',
    test: MODEL,
    says: /over an edit that nobody had seen/,
  },
  {
    name: 'a card that was found is taken for drawn',
    file: 'src/workflow/notify/deliver.ts',
    find: 'if (how.again) await context.messenger.redrawCard(change, position);',
    put: '',
    test: SIMULATION,
    says: /its card shows an older state/,
  },
  {
    name: 'a card is posted without a look whether it is there',
    file: 'src/workflow/notify/deliver.ts',
    find: 'const how = { again: row.attempts > 1 };',
    put: 'const how = { again: false };',
    test: SIMULATION,
    says: /it has 2 cards/,
  },
  {
    name: 'a dead process is never taken over from',
    file: 'src/workflow/execute/recover.ts',
    find: 'const lost = await leaseRanOut(context.database.db, context.now(), AT_ONCE);',
    put: 'const lost = await leaseRanOut(context.database.db, new Date(0), AT_ONCE);',
    test: SIMULATION,
    says: /still executing/,
  },
  {
    name: 'a digest is posted without a permit',
    file: 'src/digests/post.ts',
    find: 'if (!(await context.database.transaction((tx) => permitDigest(tx, begun)))) ',
    put: 'await context.database.transaction((tx) => permitDigest(tx, begun)); if (begun.day === null) ',
    test: 'test/digests/run.test.ts',
    says: /AssertionError|expected an ApiError/,
  },
  {
    name: 'the end of the audit trail is read without a lock',
    file: 'src/storage/audit/append.ts',
    find: `    .updateTable('audit_head')
    .set((eb) => ({ seq: eb('seq', '+', 1) }))
    .where('id', '=', 1)
    .returning(['seq', 'hash'])
    .executeTakeFirstOrThrow();
  const row = linkAfter({ seq: seq - 1, hash }, key, event);
  await tx.insertInto('audit_event').values(row).execute();
  await tx.updateTable('audit_head').set({ hash: row.hash })`,
    put: `    .selectFrom('audit_head')
    .select((eb) => [eb('seq', '+', 1).as('seq'), 'hash'])
    .where('id', '=', 1)
    .executeTakeFirstOrThrow();
  const row = linkAfter({ seq: seq - 1, hash }, key, event);
  await tx.insertInto('audit_event').values(row).execute();
  await tx.updateTable('audit_head').set({ seq, hash: row.hash })`,
    test: 'test/chaos/together.test.ts',
    // The numbers of the events keep the chain whole, and whoever loses one is too late.
    says: /to have a length of/,
  },
];

/** Mistakes that a second layer makes good: the tests have to stay green with each of them. */
export const HARMLESS: readonly (Omit<Defect, 'says'> & { readonly heldBy: string })[] = [
  {
    name: 'no lock of the row',
    file: 'src/storage/tables/changes/changes.ts',
    find: '.$if(onPostgres(tx), (query) => query.forUpdate())',
    put: '',
    test: 'test/chaos/together.test.ts',
    heldBy: 'a move is stored only from the version it was made from, and is tried again',
  },
  {
    name: 'a move is stored whatever the version is',
    file: 'src/storage/tables/changes/changes.ts',
    find: ".where('version', '=', before.version)",
    put: '',
    test: 'test/chaos/together.test.ts',
    heldBy: 'the row is locked before it is read',
  },
];

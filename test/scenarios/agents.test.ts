import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  atDoor,
  callingTools,
  connectClient,
  modernCall,
  resultIn,
  slackCall,
  startDoor,
  withOtherAgents,
} from '../harness/agents.ts';
import { changesIn } from '../harness/read-log.ts';
import { ANA, BEN, DORA, GINA, HUGO, SVEN } from '../harness/users.ts';
import { emptyUrl, onEngines } from '../storage/engines.ts';

type Result = { readonly structuredContent?: unknown; readonly isError?: unknown };
const facts = ({ structuredContent }: Result) => structuredContent as Record<string, never>;

const PAGE = join(import.meta.dirname, '../../docs/agents.md');

/** The transcript as the page has it: with these fields of results. The card of a pending change may not be posted yet. */
function transcriptOf(lines: readonly (string | readonly [call: string, result: unknown])[]) {
  const shownOf = ({ ended }: Record<string, unknown>) => [
    ...['summary', 'state', 'approvals', 'data'],
    ...(ended ? ['card'] : []),
  ];
  const withoutEmpty = (_: string, value: unknown) =>
    value === null || (Array.isArray(value) && value.length === 0) ? undefined : value;
  const text = lines.map((line) => {
    if (typeof line === 'string') return `# ${line}`;
    const [call, result] = line;
    const shown = shownOf(result as Record<string, unknown>);
    const fields = Object.entries(result as object).filter(([name]) => shown.includes(name));
    const answer = Array.isArray(result)
      ? result.join(' ')
      : fields
          .map(([name, value]) => `${name}: ${JSON.stringify(value, withoutEmpty)}`)
          .join('\n  ');
    return `> ${call}\n  ${answer}`;
  });
  return text.join('\n').replaceAll(/https:[^"]+/g, 'https://…');
}

test.for(['legacy', 'auto'] as const)(
  'a foreign client asks for a person, who confirms and another one approves: the transcript of the page (%s)',
  async (mode) => {
    const { slack, cloud, tokens, url, ...sandbox } = await startDoor();
    const client = await connectClient(url, () => tokens.person(ANA), mode);
    expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern');
    const lines: (string | readonly [string, unknown])[] = [];
    const call = async (name: string, args: Record<string, unknown>) => {
      const result = facts(await client.callTool({ name, arguments: args }));
      lines.push([`tools/call ${name} ${JSON.stringify(args)}`, result]);
      return result;
    };
    const { tools } = await client.listTools();
    lines.push(['tools/list', tools.map(({ name }) => name)]);

    const words = { service: 'staging', reason: 'tests are done <@U0BEN00001> *approve*' };
    const { change } = await call('service_stop', words);
    const id = String(change);
    expect(slack.messages('db-approvals')).toHaveLength(0);
    const preview = await sandbox.privateMessage(ANA, 'Stop staging?');
    await sandbox.press(ANA, preview, 'change.confirm');
    lines.push('Ana presses Request approval in her direct messages');
    await call('request_wait', { id, state: 'draft' });
    const card = await sandbox.card('requests: ');
    const waiting = client.callTool({ name: 'request_wait', arguments: { id, state: 'pending' } });
    await sandbox.press(BEN, card, 'change.approve');
    lines.push('Ben presses Approve on the card');
    expect(['approved', 'executing', 'succeeded']).toContain(facts(await waiting).state);
    await expect
      .poll(async () => facts(await client.callTool({ name: 'request_status', arguments: { id } })))
      .toMatchObject({ state: 'succeeded', ended: true });
    await call('request_wait', { id, state: 'pending' });
    expect(cloud.count('set state')).toBe(1);

    // Both eras have the same transcript. To write it to the page: vitest -u.
    const transcript = transcriptOf(lines).replaceAll(id, 'R8V3KD');
    const page = await readFile(PAGE, 'utf8');
    const written = page.replace(
      /(## Transcript\n[\s\S]*?```text\n)[\s\S]*?(\n```)/,
      (_, before: string, after: string) => `${before}${transcript}${after}`,
    );
    await expect(written).toMatchFileSnapshot(PAGE);
  },
);

test('what is no request of an agent is refused before anything is done', async () => {
  const { url, tokens, slack } = await startDoor();
  const bearer = { authorization: `Bearer ${await tokens.person(ANA)}` };
  const call = modernCall('service_list', {});
  const right = { headers: { ...call.headers, ...bearer }, body: call.body };
  const withHeaders = (headers: Readonly<Record<string, string>>) => ({
    ...right,
    headers: { ...right.headers, ...headers },
  });
  const attempts: Readonly<Record<string, readonly [object, number]>> = {
    'a right call': [right, 200],
    'the host in upper case, with its port': [
      withHeaders({ host: 'SIGNALBOX.example.com:443' }),
      200,
    ],
    'another host': [withHeaders({ host: 'evil.example.com' }), 403],
    'another port': [withHeaders({ host: 'signalbox.example.com:80' }), 403],
    'a user in the host': [withHeaders({ host: 'evil@signalbox.example.com' }), 403],
    'a query in the host': [withHeaders({ host: 'signalbox.example.com?x' }), 403],
    'an origin': [withHeaders({ origin: 'https://evil.example.com' }), 403],
    'the origin null': [withHeaders({ origin: 'null' }), 403],
    'a preflight': [{ method: 'OPTIONS', headers: { origin: 'https://evil.example.com' } }, 403],
    GET: [{ ...right, method: 'GET', body: undefined }, 405],
    PUT: [{ ...right, method: 'PUT' }, 405],
    DELETE: [{ ...right, method: 'DELETE' }, 405],
    OPTIONS: [{ ...right, method: 'OPTIONS' }, 405],
    'text/plain': [withHeaders({ 'content-type': 'text/plain' }), 415],
    '70 kB': [{ ...right, body: ' '.repeat(70_000) }, 413],
    'a batch': [{ ...right, body: `[${right.body}]` }, 400],
    'no JSON': [{ ...right, body: '{' }, 400],
    'a depth of 5,000': [{ ...right, body: `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}` }, 400],
    'a token in the query': [{ ...call, path: `/mcp?access_token=${await tokens.ci()}` }, 401],
    'no credential': [call, 401],
    'basic credentials': [
      { ...call, headers: { ...call.headers, authorization: 'Basic eA==' } },
      401,
    ],
    'another path': [{ ...right, path: '/mcp/x' }, 404],
  };
  const replies = await Promise.all(
    Object.entries(attempts).map(
      async ([name, [request]]) => [name, await atDoor(url, request)] as const,
    ),
  );
  expect(Object.fromEntries(replies.map(([name, { status }]) => [name, status]))).toEqual(
    Object.fromEntries(Object.entries(attempts).map(([name, [, status]]) => [name, status])),
  );
  for (const [name, { headers }] of replies) {
    expect(headers['access-control-allow-origin']).toBeUndefined();
    if (name !== 'another path') expect(headers['cache-control']).toBe('no-store');
  }
  const unknown = await atDoor(url, call);
  expect(unknown.headers['www-authenticate']).toBe(
    'Bearer resource_metadata="https://signalbox.example.com/.well-known/oauth-protected-resource/mcp"',
  );
  const wrong = await atDoor(url, {
    ...call,
    headers: { ...call.headers, authorization: 'Bearer x' },
  });
  expect(wrong.headers['www-authenticate']).toContain('error="invalid_token"');
  expect(slack.messages('db-approvals')).toHaveLength(0);
});

test('the metadata names the issuers of people only', async () => {
  const { url, issuer, ...sandbox } = await startDoor();
  const path = '/.well-known/oauth-protected-resource/mcp';
  const { status, text } = await atDoor(url, { method: 'GET', path });
  expect(status).toBe(200);
  const about = {
    resource: 'https://signalbox.example.com/mcp',
    bearer_methods_supported: ['header'],
    resource_name: 'Signalbox',
  };
  expect(JSON.parse(text)).toEqual({ ...about, authorization_servers: [issuer] });
  await sandbox.reload(withOtherAgents(issuer, (all) => all.slice(0, 2)));
  // Empty lists are left out: RFC 9728, section 3.2.
  expect(JSON.parse((await atDoor(url, { method: 'GET', path })).text)).toEqual(about);
});

const TEAM = 'T0SIGNALBOX';

onEngines(
  'Slackbot asks for the person whom Slack signs; a copy changes nothing, also at another replica',
  async (engine) => {
    const { url, clock, ...sandbox } = await startDoor({ databaseUrl: await emptyUrl(engine) });
    // A file has one process.
    const replica = engine === 'sqlite' ? null : await sandbox.replica();
    const other = replica ? `http://127.0.0.1:${replica.port}` : url;
    const ana = { user_id: ANA, team_id: TEAM };
    const read = slackCall(clock.now, 'service_list', {}, ana);
    expect((await atDoor(url, read)).status).toBe(200);
    expect((await atDoor(url, read)).status).toBe(401);
    expect((await atDoor(other, read)).status).toBe(401);

    const stop = slackCall(clock.now, 'service_stop', { service: 'staging' }, ana);
    const first = resultIn(await atDoor(url, stop));
    expect(first).toMatchObject({ state: 'draft' });
    const copy = resultIn(await atDoor(other, stop));
    expect(copy.change).toBe(first.change);
    const id = String(first.change);
    const cancel = slackCall(clock.now, 'request_cancel', { id }, ana);
    expect(resultIn(await atDoor(url, cancel))).toMatchObject({ state: 'cancelled' });
    // After its end, the copy finds nothing, and makes nothing.
    expect(resultIn(await atDoor(url, stop))).toMatchObject({ refusal: 'already-received' });
  },
);

test('guests, users of other workspaces, deactivated users and users without the role are refused', async () => {
  const { url, clock } = await startDoor();
  const stopBy = async (user: string, team = TEAM) => {
    const args = { service: 'staging', reason: user };
    const call = slackCall(clock.now, 'service_stop', args, { user_id: user, team_id: team });
    const reply = await atDoor(url, call);
    return reply.status === 200
      ? (resultIn(reply).refusal ?? resultIn(reply).summary)
      : reply.status;
  };
  expect(await stopBy(GINA)).toBe('guest');
  expect(await stopBy(HUGO)).toBe('deactivated');
  expect(await stopBy(SVEN)).toBe('other-workspace');
  expect(await stopBy(ANA, 'T0PARTNERS1')).toBe(403);
  expect(await stopBy(DORA)).toBe('There is no such tool, or you may not use it.');
});

test('what a tool does not take is refused, and nothing is requested', async () => {
  const { url, tokens, slack } = await startDoor();
  const call = await callingTools(url, () => tokens.person(ANA));
  const stop = (more: Record<string, unknown>) =>
    call('service_stop', { service: 'staging', ...more });
  for (const argument of ['approve', 'requester', '__proto__x', 'constructor']) {
    const problem = expect.stringContaining(`This tool has no argument “${argument}”.`);
    expect(await stop({ [argument]: true })).toMatchObject({ data: { problem } });
  }
  expect(await stop({ reason: { text: 'x' } })).toMatchObject({
    data: { problem: 'reason must be a text, a number, true, false or a list of texts.' },
  });
  for (const key of ['x'.repeat(65), '<@U0BEN00001>']) {
    const problem = expect.stringContaining('key must be at most 64 letters');
    expect(await stop({ key })).toMatchObject({ data: { problem } });
  }
  const client = await connectClient(url, () => tokens.person(ANA), 'auto');
  await expect(client.listTools({ cursor: 'x' })).rejects.toThrow('There is one page only.');
  expect(await stop({ service: 'x'.repeat(6_000) })).toMatchObject({
    summary: 'An argument is not accepted.',
  });
  expect(await call('service_stop', {})).toMatchObject({ summary: 'Missing: service.' });
  expect(await stop({ service: 'stagign' })).toMatchObject({
    arguments: ['service'],
    data: { problem: expect.stringContaining('stagign') },
  });
  expect(await call('service_scale', { service: 'staging' })).toMatchObject({
    arguments: ['min'],
    data: { problems: ['min is missing: set at least one field to change'] },
  });
  expect(await call('cost', { words: 'mtd refresh' })).toMatchObject({
    data: { problem: 'refresh is for people only. Leave it out.' },
  });
  const summary = 'There is no such tool, or you may not use it.';
  for (const name of ['change_approve', 'change_cancel', 'service_create', '__proto__']) {
    expect(await call(name, {})).toMatchObject({ summary });
  }
  expect(slack.messages('db-approvals')).toHaveLength(0);
});

test('the request of one caller does not exist for another one', async () => {
  const { url, tokens } = await startDoor();
  const ci = await callingTools(url, () => tokens.ci());
  const ana = await callingTools(url, () => tokens.person(ANA));
  const ben = await callingTools(url, () => tokens.person(BEN));
  const id = String((await ci('service_stop', { service: 'staging' })).change);
  const summary = 'You have no request with this id.';
  for (const name of ['request_status', 'request_wait', 'request_cancel']) {
    expect(await ana(name, { id })).toMatchObject({ summary });
  }
  const own = String((await ana('service_stop', { service: 'staging' })).change);
  expect(own).not.toBe(id);
  expect(await ben('request_cancel', { id: own })).toMatchObject({ refusal: 'not-found' });
  expect(await ci('request_status', { id })).toMatchObject({ state: 'pending' });
  for (const seconds of [0, 51, '5', null]) {
    const summary = 'seconds must be from 1 to 50.';
    expect(await ci('request_wait', { id, seconds })).toMatchObject({ summary });
  }
});

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const TASKS = 'io.modelcontextprotocol/tasks';

test('a client that declares tasks gets a task, which no other caller reads or cancels', async () => {
  const { url, tokens, cloud, ...sandbox } = await startDoor();
  const send = async (
    token: Promise<string>,
    method: string,
    params: { readonly name?: string; readonly taskId?: string; readonly arguments?: object },
    extensions: object = { [TASKS]: {} },
  ) => {
    const authorization = `Bearer ${await token}`;
    const named = params.name ?? params.taskId ?? '';
    const call = modernCall(named, {}, { [CAPABILITIES]: { extensions } });
    const { _meta } = JSON.parse(call.body).params;
    const isPlain = /^[ -~]*$/.test(named);
    const name = isPlain ? named : `=?base64?${Buffer.from(named).toString('base64')}?=`;
    const own = { 'mcp-method': method, 'mcp-name': name, authorization };
    const headers = { ...call.headers, ...own };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
    const { result, error } = JSON.parse((await atDoor(url, { headers, body })).text);
    return result ?? error;
  };
  const stop = { name: 'service_stop', arguments: { service: 'staging' } };
  const plain = await send(tokens.person(ANA), 'tools/call', stop, {});
  expect(plain).toMatchObject({ structuredContent: { state: 'draft' } });
  const task = await send(tokens.ci(), 'tools/call', stop);
  expect(task).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
  const { taskId } = task;
  expect(taskId).toMatch(/^[A-Z0-9]{6}\.[\w-]{43}$/);

  const get = { taskId };
  expect(await send(tokens.ci(), 'tasks/get', get)).toMatchObject({ taskId, status: 'working' });
  // Nothing is asked of the client, so that an answer changes nothing.
  expect(await send(tokens.ci(), 'tasks/update', get)).toMatchObject({ resultType: 'complete' });
  const forged = `${taskId.slice(0, -1)}${taskId.endsWith('A') ? 'B' : 'A'}`;
  const others: readonly (readonly [Promise<string>, string])[] = [
    [tokens.person(ANA), taskId],
    [tokens.ci(), forged],
    [tokens.ci(), `${taskId.slice(0, -1)}é`],
    [tokens.ci(), taskId.split('.')[0]],
    [tokens.ci(), `ABCDEF.${taskId.split('.')[1]}`],
  ];
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    expect(await send(tokens.ci(), method, get, {})).toMatchObject({ code: -32021 });
    for (const [token, other] of others) {
      expect(await send(token, method, { taskId: other })).toMatchObject({ code: -32602 });
    }
  }

  await sandbox.press(BEN, await sandbox.card('staging'), 'change.approve');
  await expect
    .poll(() => send(tokens.ci(), 'tasks/get', get))
    .toMatchObject({ status: 'completed', result: { structuredContent: { state: 'succeeded' } } });
  // What was sent is not cancelled.
  await send(tokens.ci(), 'tasks/cancel', get);
  expect(await send(tokens.ci(), 'tasks/get', get)).toMatchObject({ status: 'completed' });
  const second = await send(tokens.ci(), 'tools/call', {
    name: 'service_scale',
    arguments: { service: 'analytics-dev', max: 64 },
  });
  expect(await send(tokens.ci(), 'tasks/cancel', { taskId: second.taskId })).toMatchObject({
    resultType: 'complete',
  });
  expect(await send(tokens.ci(), 'tasks/get', { taskId: second.taskId })).toMatchObject({
    status: 'cancelled',
  });
});

test('1,000 calls are limited, and a command of the person is still answered', async () => {
  const { url, tokens, ...sandbox } = await startDoor();
  const authorization = `Bearer ${await tokens.person(ANA)}`;
  const { headers, body } = modernCall('request_status', { id: 'ABCDEF' });
  const statuses = await Promise.all(
    Array.from({ length: 1_000 }, () =>
      atDoor(url, { headers: { ...headers, authorization }, body }),
    ),
  );
  expect(statuses.filter(({ status }) => status === 200)).toHaveLength(60);
  const limited = statuses.filter(({ status }) => status === 429);
  expect(limited).toHaveLength(940);
  expect(limited[0]?.headers['retry-after']).toBe('60');
  await sandbox.ask(ANA, '/service list', 'staging');
});

test('50 equal requests at once are one change', async () => {
  const { url, tokens } = await startDoor();
  const authorization = `Bearer ${await tokens.ci()}`;
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) => {
      const { headers, body } = modernCall('service_stop', {
        service: 'staging',
        reason: `${index}`,
      });
      return atDoor(url, { headers: { ...headers, authorization }, body });
    }),
  );
  expect(new Set(replies.map((reply) => resultIn(reply).change)).size).toBe(1);
});

test('a stop answers a wait at once', async () => {
  const { url, tokens, ...sandbox } = await startDoor();
  const ci = await callingTools(url, () => tokens.ci());
  const { change: id } = await ci('service_stop', { service: 'staging' });
  const waiting = ci('request_wait', { id });
  await expect.poll(() => sandbox.looks()).toBeGreaterThan(3);
  await sandbox.down();
  expect(await waiting).toMatchObject({ state: 'pending', ended: false });
});

test('a client that leaves ends the wait, not the change', async () => {
  const { url, tokens, ...sandbox } = await startDoor();
  const ci = await callingTools(url, () => tokens.ci());
  const { change: id } = await ci('service_stop', { service: 'staging' });
  const gone = new AbortController();
  const { headers, body } = modernCall('request_wait', { id });
  const authorization = `Bearer ${await tokens.ci()}`;
  const left = atDoor(url, { headers: { ...headers, authorization }, body, signal: gone.signal });
  await expect.poll(() => sandbox.looks()).toBeGreaterThan(3);
  gone.abort();
  await expect(left).rejects.toThrow();
  const seen = sandbox.looks();
  expect(await ci('request_status', { id })).toMatchObject({ state: 'pending' });
  expect(sandbox.looks() - seen).toBeLessThan(50);
});

test('a reload opens the door again, or closes it', async () => {
  const { url, tokens, issuer, ...sandbox } = await startDoor();
  const { headers, body } = modernCall('service_list', {});
  const call = async () =>
    atDoor(url, { headers: { ...headers, authorization: `Bearer ${await tokens.ci()}` }, body });
  expect((await call()).status).toBe(200);
  await sandbox.reload(withOtherAgents(issuer, (all) => all.slice(0, 1)));
  expect((await call()).status).toBe(401);
  await sandbox.reload();
  expect((await call()).status).toBe(404);
});

test('the plan over MCP is that of the typed command; the digest also covers who asked', async () => {
  const { tokens, url, config, ...sandbox } = await startDoor({
    databaseUrl: await emptyUrl('sqlite'),
  });
  await sandbox.ask(ANA, '/service scale staging max=64', 'Scale staging?');
  const ana = await callingTools(url, () => tokens.person(ANA));
  await ana('service_scale', { service: 'staging', max: 64 });
  const changes = await changesIn(config.databaseUrl.reveal());
  const typed = changes.find(({ via }) => via === null);
  const asked = changes.find(({ via }) => via !== null);
  expect([typed?.via, asked?.via?.agent]).toEqual([null, 'assistant']);
  expect(JSON.stringify(asked?.plan)).toBe(JSON.stringify(typed?.plan));
  expect(asked?.requires).toEqual(typed?.requires);
  expect(asked?.digest).not.toBe(typed?.digest);
});

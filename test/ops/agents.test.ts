import { expect, test } from 'vitest';
import { freePort } from '../../sandbox/free-port.ts';
import { agentLines } from '../../src/ops/doctor-running.ts';
import { startIssuer, withAgents } from '../harness/agents.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { EXAMPLE, said } from './fixtures.ts';

test('the doctor asks the address of agents, and for the keys of their issuers', async () => {
  const [issuer, port] = await Promise.all([startIssuer(), freePort()]);
  const url = `http://127.0.0.1:${port}/mcp`;
  const options = { yaml: withAgents(issuer, url), env: { PORT: String(port) } };
  const sandbox = await startTestSandbox(options);
  const diagnose = async () =>
    (await agentLines({ config: sandbox.config, withinMs: 10_000 })).map(
      ({ status, name, says }) => `${status} ${name}: ${says}`,
    );
  expect(await diagnose()).toEqual([
    `ok agents: ${url} answers`,
    'ok keys of agents: https://token.actions.githubusercontent.com: 1 key',
    `ok keys of agents: ${issuer}: 1 key`,
  ]);
  await sandbox.down();
  expect((await diagnose())[0]).toContain('failed agents: ');
});

test('an agent by slack needs the signing secret, also with Socket Mode', () => {
  const agents = [
    'agents:',
    '  url: https://signalbox.example.com/mcp',
    '  allow: [{ name: slackbot, for: people, by: slack, tools: [cost] }]',
  ];
  const yaml = `${EXAMPLE}\n${agents.join('\n')}\n`;
  expect(said({}, yaml)).toEqual([
    expect.stringContaining('SLACK_SIGNING_SECRET: is missing, but an agent'),
  ]);
  expect(said({ SLACK_SIGNING_SECRET: 'x'.repeat(32) }, yaml)).toEqual([]);
});

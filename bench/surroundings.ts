import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { startAlertsSimulator } from '../sandbox/alerts/simulator.ts';
import { startCloudSimulator } from '../sandbox/cloud/simulator.ts';
import { ALERTS_TOKEN, CLOUD_KEY } from '../sandbox/seed/organization.ts';
import { startSlackSimulator } from '../sandbox/slack/server.ts';
import { workspaceOfManyUsers } from './many-users.ts';

/**
 * Everything that the apps talk to, in a process of its own. In front of the stand-in for Slack
 * stands a door that takes the answers to commands itself: it counts them and says yes at once.
 */
const signingSecret = 'a-signing-secret-of-the-measurement';
const manifest = JSON.parse(readFileSync(new URL('../manifest.json', import.meta.url), 'utf8'));
const [cloud, alerts, slack] = await Promise.all([
  startCloudSimulator(),
  startAlertsSimulator(),
  startSlackSimulator({
    manifest,
    delivery: { mode: 'http', signingSecret },
    workspace: workspaceOfManyUsers,
  }),
]);

let answers = 0;
const door = createServer((incoming, reply) => {
  const path = incoming.url ?? '/';
  if (path === '/answers') return reply.end(String(answers));
  if (!path.startsWith('/answers/')) return passOn(incoming, reply);
  incoming.resume();
  incoming.once('end', () => {
    answers += 1;
    reply.end('ok');
  });
});

function passOn(incoming: IncomingMessage, reply: ServerResponse): void {
  const { method, headers, url = '/' } = incoming;
  const onward = request(new URL(url, slack.url), { method, headers }, (answer) => {
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(reply);
  });
  onward.once('error', () => reply.writeHead(502).end());
  incoming.pipe(onward);
}

door.listen(0, '127.0.0.1');
await once(door, 'listening');
const address = door.address();
const port = typeof address === 'object' && address ? address.port : 0;
process.send?.({
  url: `http://127.0.0.1:${port}`,
  team: slack.workspace.teamId,
  app: slack.workspace.appId,
  env: {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: `http://127.0.0.1:${port}/api/`,
    CLOUD_API_URL: cloud.url,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
  },
});

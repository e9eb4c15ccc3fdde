import { createHmac } from 'node:crypto';
import { MANY_USERS } from './many-users.ts';

export interface Sender {
  readonly signingSecret: string;
  readonly team: string;
  readonly app: string;
  /** Where the answers go; a number for each command is put behind it. */
  readonly answersUrl: string;
}

/** A request as Slack would send it, whole and signed. */
export interface SignedCommand {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signed ahead of the load, so that signing costs nothing while it runs; good for five minutes. */
export function signedCommands(count: number, sender: Sender, now: Date): readonly SignedCommand[] {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  return Array.from({ length: count }, (_, index) => {
    const body = serviceList(index, sender);
    const hmac = createHmac('sha256', sender.signingSecret).update(`v0:${timestamp}:${body}`);
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${hmac.digest('hex')}`,
    };
    return { body, headers };
  });
}

function serviceList(index: number, { team, app, answersUrl }: Sender): string {
  return new URLSearchParams({
    token: 'deprecated',
    team_id: team,
    team_domain: 'signalbox-sandbox',
    channel_id: 'C0OPS000001',
    channel_name: 'ops',
    user_id: MANY_USERS[index % MANY_USERS.length] ?? '',
    user_name: 'somebody',
    command: '/service',
    text: 'list',
    api_app_id: app,
    is_enterprise_install: 'false',
    response_url: `${answersUrl}/${index}`,
    trigger_id: `${index}.100000000001.bench`,
  }).toString();
}

import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';

/** The line that the log writes for these fields. */
function logged(fields: object) {
  const lines: string[] = [];
  createLog({ level: 'info' }, { write: (line) => void lines.push(line) }).info(fields);
  return JSON.parse(lines[0] ?? '');
}

const SENSITIVE = [
  ...['password', 'keySecret', 'accessKeyId', 'encryptionKey', 'encryptionRoleId'],
  ...['encryptionAssumedRoleIdentifier', 'transparentDataEncryptionKeyId', 'iamRole', 'iamRoleArn'],
  ...['iamRoleSessionName', 'streamClusterArn', 'vpcResourceShareArn', 'ipAccessList'],
  ...['authorization', 'token'],
];

test.each(SENSITIVE)('%s is replaced at any depth', (key) => {
  const { result } = logged({ result: [{ [key]: 'canary', name: 'analytics' }] });
  expect(result).toEqual([{ [key]: '[redacted]', name: 'analytics' }]);
});

test.each(['id', 'name', 'serviceId', 'state', 'webhookId', 'privateEndpointIds', 'backupName'])(
  '%s stays',
  (key) => {
    expect(logged({ [key]: 'shown' })).toMatchObject({ [key]: 'shown' });
  },
);

test('a missing secret stays null, so that the log shows that there was none', () => {
  expect(logged({ password: null })).toMatchObject({ password: null });
});

test('whole lists and objects of sensitive keys are replaced', () => {
  const { ipAccessList } = logged({ ipAccessList: [{ source: '10.0.0.0/8' }] });
  expect(ipAccessList).toBe('[redacted]');
});

test('a circular value does not cause an endless loop', () => {
  const loop: Record<string, unknown> = {};
  loop.inner = loop;
  expect(JSON.stringify(logged(loop))).toContain('[deeper]');
});

import { expect, test } from 'vitest';
import { redact } from '../../src/base/log.ts';

test.each([
  'password',
  'keySecret',
  'accessKeyId',
  'encryptionKey',
  'encryptionAssumedRoleIdentifier',
  'encryptionRoleId',
  'transparentDataEncryptionKeyId',
  'iamRole',
  'iamRoleArn',
  'iamRoleSessionName',
  'streamClusterArn',
  'vpcResourceShareArn',
  'ipAccessList',
  'authorization',
  'token',
])('%s is replaced at any depth', (key) => {
  const logged = redact({ result: [{ [key]: 'canary', name: 'analytics' }] });
  expect(logged).toEqual({ result: [{ [key]: '[redacted]', name: 'analytics' }] });
});

test.each(['id', 'name', 'serviceId', 'state', 'webhookId', 'privateEndpointIds', 'backupName'])(
  '%s stays',
  (key) => {
    expect(redact({ [key]: 'shown' })).toEqual({ [key]: 'shown' });
  },
);

test('a missing secret stays null, so that the log shows that there was none', () => {
  expect(redact({ password: null })).toEqual({ password: null });
});

test('whole lists and objects of sensitive keys are replaced', () => {
  expect(redact({ ipAccessList: [{ source: '10.0.0.0/8' }] })).toEqual({
    ipAccessList: '[redacted]',
  });
});

test('a circular value does not cause an endless loop', () => {
  const loop: Record<string, unknown> = {};
  loop.inner = loop;
  expect(JSON.stringify(redact(loop))).toContain('[deeper]');
});

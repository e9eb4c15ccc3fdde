import { expect, test } from 'vitest';
import { CloudService } from '../../../src/cloud/replies.ts';
import { sentService } from '../../../src/intent/arguments/sent-body.ts';

function reply(result: object | null) {
  const parsed = result && CloudService.parse(result);
  return { result: parsed, requestId: '9f3e', status: 200, tookMs: 12 };
}

test('a reply without a service teaches nothing', () => {
  expect(sentService('s1', 'staging', reply(null))).toEqual({
    requestId: '9f3e',
    reported: [],
    learned: null,
  });
});

test('what a reply reports is kept under the id that was asked for', () => {
  const sent = sentService('s1', 'staging', reply({ id: 'other', name: 'new', state: 'stopping' }));
  expect(sent).toEqual({
    requestId: '9f3e',
    reported: ['stopping'],
    learned: { id: 's1', name: 'new', fields: { state: 'stopping' } },
  });
});

test('a reply without a name leaves the service the one it has', () => {
  expect(sentService('s1', 'staging', reply({})).learned?.name).toBe('staging');
});

test('keys, roles and addresses are neither kept nor shown', () => {
  const canary = 'canary';
  const secrets = {
    encryptionKey: canary,
    encryptionAssumedRoleIdentifier: canary,
    iamRole: canary,
    ipAccessList: [{ source: canary, description: canary }],
    privateEndpointIds: [canary],
    transparentDataEncryptionKeyId: canary,
    password: canary,
  };
  const sent = sentService(
    's1',
    'staging',
    reply({ ...secrets, numReplicas: 3, isPrimary: false }),
  );
  expect(JSON.stringify(sent)).not.toContain(canary);
  expect(sent.learned?.fields).toEqual({ numReplicas: 3, isPrimary: false });
});

import { expect, test } from 'vitest';
import { ana, approvals, startSlack } from './bolt-app.ts';
import { clientOf, outcome } from './client.ts';

test('a file is uploaded in three steps, and only once', async () => {
  const slack = await startSlack();
  const { files } = clientOf(slack);
  const file = Buffer.from('day,credits\n1,2\n');
  await clientOf(slack).filesUploadV2({ channel_id: approvals, file, filename: 'costs.csv' });
  const [shown] = slack.clientState(ana).messages[0]?.files ?? [];
  expect(shown).toMatchObject({ name: 'costs.csv', mimetype: 'text/csv' });
  expect(await (await fetch(shown?.url ?? '')).text()).toBe(file.toString());
  const id = slack.messages(approvals)[0]?.fileIds[0] ?? '';
  const again = files.completeUploadExternal({ files: [{ id }] });
  expect(await outcome(again)).toBe('file_not_found');
});

test('an upload with another length than requested is refused', async () => {
  const slack = await startSlack();
  const { files } = clientOf(slack);
  const opened = await files.getUploadURLExternal({ filename: 'costs.csv', length: 3 });
  const sent = await fetch(opened.upload_url ?? '', { method: 'POST', body: 'four' });
  expect(sent.status).toBe(400);
  const done = files.completeUploadExternal({ files: [{ id: opened.file_id ?? '' }] });
  expect(await outcome(done)).toBe('file_update_failed');
});

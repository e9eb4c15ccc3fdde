import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { fencesOn, readPage } from '../documents/pages.ts';
import { startDoctorSandbox } from './doctor-sandbox.ts';
import { namesOf } from './lines.ts';

test('the doctor accepts the configuration file of the README', async () => {
  const [first] = fencesOn(readPage('README.md')).filter(({ language }) => language === 'yaml');
  const sandbox = await startDoctorSandbox({ yaml: () => parse(first?.text ?? '') });
  const lines = await sandbox.diagnose();
  expect(namesOf(lines, 'ok')).toEqual(expect.arrayContaining(['signalbox.yaml', 'rules']));
  expect([...namesOf(lines, 'failed'), ...namesOf(lines, 'warning')]).toEqual([]);
});

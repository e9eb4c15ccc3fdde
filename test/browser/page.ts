import { build } from 'vite';

/** The page as it is now, not as somebody built it last. */
export default async function setup(): Promise<void> {
  await build({ root: 'sandbox/page', logLevel: 'warn' });
}

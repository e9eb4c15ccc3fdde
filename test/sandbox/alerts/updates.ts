import { WEBHOOKS } from '../../../sandbox/seed/alert-references.ts';

// Alerts of the seed, by what is awkward about them.
export const RATE = '357fc488efc4a66bb2a8f81a';
export const LATENCY = '1d2c85b529e65225ec2e363d';
export const RANGE = '8ef29342507d91666304c181';
export const IMPORT = '4cc476b9c186b64bc5d65f43';
export const NULL_GROUP = 'c0f1a3fe1f28c282d2da8858';
export const DELETED_WEBHOOK = '5ae8e2302e35f049750cfd75';
export const NOBODY = '000000000000000000000000';

export const OPS = { type: 'webhook', webhookId: WEBHOOKS.operations };
export const SEARCH = { source: 'saved_search', savedSearchId: '888f2ada363fdf3b2bac9d99' };
export const TILE = {
  source: 'tile',
  dashboardId: '62c44503c8448bc7c39e434f',
  tileId: 'tile-latency',
};
export const NEEDED = { interval: '15m', threshold: 250, thresholdType: 'above', channel: OPS };

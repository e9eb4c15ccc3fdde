// Alerts of three servers: a current one, one that follows the contract exactly, and an
// intermediate version with the contract's names and current values.

import { contractTile as tileOfContract } from '../contracts/replies.ts';

export const TILE = '65b0c0ffee0000000000a001';
export const SEARCH = '65b0c0ffee0000000000a002';

export const currentTile = {
  id: TILE,
  name: '5xx rate',
  message: null,
  threshold: 100,
  thresholdType: 'above',
  interval: '5m',
  source: 'tile',
  state: 'ALERT',
  channel: { type: 'webhook', webhookId: 'w1' },
  channels: [
    { type: 'webhook', webhookId: 'w1', severity: 'high' },
    { type: 'email', emailRecipients: ['a@example.com'] },
  ],
  note: 'see the runbook',
  numConsecutiveWindows: 2,
  scheduleOffsetMinutes: null,
  dashboardId: '65b0c0ffee0000000000d001',
  tileId: 'tile-4',
  teamId: '65b0c0ffee0000000000e001',
  silenced: { by: 'a@example.com', at: '2026-11-19T09:00:00Z', until: '2026-11-20T09:00:00Z' },
  executionErrors: [],
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-11-19T09:00:00.000Z',
};

export const currentSearch = {
  id: SEARCH,
  name: 'errors by service',
  message: 'look here',
  threshold: 5,
  thresholdMax: 50,
  thresholdType: 'between',
  interval: '15m',
  source: 'saved_search',
  state: 'OK',
  channel: { type: 'webhook', webhookId: 'w1' },
  savedSearchId: '65b0c0ffee0000000000f001',
  groupBy: 'service',
  teamId: '65b0c0ffee0000000000e001',
  createdAt: '2026-10-01T00:00:00.000Z',
  updatedAt: '2026-11-19T09:00:00.000Z',
};

export const contractTile = { ...tileOfContract, savedSearch: null, groupBy: '' };

export const contractSearch = {
  ...{ ...contractTile, id: SEARCH, source: 'search', tileId: null, dashboard: null },
  ...{ savedSearch: '65b0c0ffee0000000000f001', groupBy: 'service' },
};

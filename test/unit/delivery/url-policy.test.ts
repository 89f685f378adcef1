import * as assert from 'node:assert/strict';
import { checkWebhookUrl, type UrlPolicy } from '../../../src/delivery/url-policy.ts';
import { suite } from '../../support/suite.ts';
import { ALLOWED, DENIED, LINK_LOCAL } from './url-table.ts';

const test = suite('delivery/url-policy');

const PLAIN: UrlPolicy = {
  ...{ allowPrivate: false, requireHttps: false, allowedDomains: [], allowedPorts: [], maxLength: 2048 },
};
const verdict = (url: string, policy: UrlPolicy): string => {
  const checked = checkWebhookUrl(url, policy);
  return checked.ok ? 'allow' : checked.problem;
};

test('W4 given the table of URLs, when each is checked, then every row has its verdict', () => {
  for (const [row, urls] of Object.entries(DENIED))
    for (const url of urls) assert.notEqual(verdict(url, PLAIN), 'allow', `${row}: ${url}`);
  for (const [row, urls] of Object.entries(ALLOWED))
    for (const url of urls) assert.equal(verdict(url, PLAIN), 'allow', `${row}: ${url}`);
});

test('W4 given a rule of the configuration, when a URL breaks it, then the rule is named', () => {
  const cases: [Partial<UrlPolicy>, string, RegExp][] = [
    [{ requireHttps: true }, 'http://example.com/', /webhooks\.url\.require_https/],
    [{ requireHttps: true }, 'https://example.com/', /^allow$/],
    [{ allowedDomains: ['*.corp.com'] }, 'https://a.corp.com/', /^allow$/],
    [{ allowedDomains: ['*.corp.com'] }, 'https://A.B.Corp.Com./', /^allow$/],
    [{ allowedDomains: ['*.corp.com'] }, 'https://corp.com/', /webhooks\.url\.allowed_domains/],
    [{ allowedDomains: ['*.corp.com'] }, 'https://corp.com.evil.io/', /webhooks\.url\.allowed_domains/],
    [{ allowedDomains: ['*.corp.com'] }, 'https://evilcorp.com/', /webhooks\.url\.allowed_domains/],
    [{ allowedDomains: ['*.corp.com'] }, 'https://.corp.com/', /webhooks\.url\.allowed_domains/],
    [{ allowedDomains: ['corp.com'] }, 'https://a.corp.com/', /webhooks\.url\.allowed_domains/],
    [{ allowedDomains: ['127.0.0.1'] }, 'https://127.0.0.1/', /is not public/],
    [{ allowedPorts: [443, 8443] }, 'https://example.com/', /^allow$/],
    [{ allowedPorts: [443, 8443] }, 'https://example.com:8443/', /^allow$/],
    [{ allowedPorts: [443, 8443] }, 'http://example.com/', /the port 80 .*webhooks\.url\.allowed_ports/],
    [{ allowedPorts: [6379] }, 'http://example.com:6379/', /^allow$/],
    [{ maxLength: 30 }, `https://example.com/${'x'.repeat(10)}`, /^allow$/],
    [{ maxLength: 30 }, `https://example.com/${'x'.repeat(11)}`, /1 to 30 .*webhooks\.url\.max_url_length/],
    [{}, '/own', /webhooks\.url\.disable_loopback/],
    [{ allowPrivate: true }, '/own?a=1', /^allow$/],
    [{ allowPrivate: true }, '//127.0.0.1/', /absolute/],
    [{ allowPrivate: true }, 'http://127.0.0.1:22/', /^allow$/],
    [{ allowPrivate: true }, 'http://127.0.0.1:0/', /the port 0/],
    [{ allowPrivate: true }, 'http://me@127.0.0.1/', /user name/],
    [{ allowPrivate: true, requireHttps: true }, 'http://127.0.0.1/', /require_https/],
    [{ ownAddresses: () => ['9.9.9.9', 'fe80::1%eth0'] }, 'http://9.9.9.9/', /this machine's own/],
    [{ ownAddresses: () => ['9.9.9.9'] }, 'http://0x09090909/', /this machine's own/],
    [{ ownAddresses: () => ['9.9.9.9'] }, 'http://[::ffff:9.9.9.9]/', /this machine's own/],
    [{ ownAddresses: () => ['2606:4700::1'] }, 'http://[2606:4700:0::0001]/', /this machine's own/],
    [{ ownAddresses: () => ['9.9.9.9'] }, 'http://9.9.9.8/', /^allow$/],
  ];
  for (const [rules, url, expected] of cases)
    assert.match(verdict(url, { ...PLAIN, ...rules }), expected, url);
});

test('W4 link-local addresses stay closed in every spelling, whatever is allowed (official 5.1)', () => {
  // given: every permission that the configuration can give
  const open = { ...PLAIN, allowPrivate: true, allowedPorts: [80], ownAddresses: () => LINK_LOCAL };
  for (const host of LINK_LOCAL) {
    const policy = { ...open, allowedDomains: [host.replace(/^\[|\]$/g, ''), '169.254.169.254'] };
    for (const rules of [open, { ...PLAIN, allowPrivate: true }])
      // when, then
      assert.match(verdict(`http://${host}/`, rules), /blocked IP range/, host);
    assert.notEqual(verdict(`http://${host}/`, policy), 'allow', host);
  }
  // then: what is next to them is open
  for (const host of [
    '169.253.255.255',
    '169.255.0.0',
    '[fec0::1]',
    '[fe7f::1]',
    '[64:ff9b::7f00:1]',
    '127.0.0.1',
  ])
    assert.equal(verdict(`http://${host}/`, open), 'allow', host);
});

test.run();

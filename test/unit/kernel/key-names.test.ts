import * as assert from 'node:assert/strict';
import { isKeyName, maskKeys, membersWithKeys } from '../../../src/kernel/key-names.ts';
import { suite } from '../../support/suite.ts';

const test = suite('kernel: names of keys');

test('names of keys are told from ordinary words, in all usual spellings', () => {
  const keys = [
    ...[
      'api_key',
      'apikey',
      'apiKey',
      'API_KEY',
      'openai_api_key',
      'OPENAI_API_KEY',
      'openaiApiKey',
      'my-api-key',
    ],
    ...[
      'token',
      'accessToken',
      'access_token',
      'secret',
      'client_secret',
      'clientSecret',
      'password',
      'db_password',
    ],
    ...['dbPassword', 'aws_secret_access_key', 'privateKey', 'private_key', 'OpenAIAPIKey', 'x-csrf-token'],
  ];
  const words = [
    ...[
      'keyword',
      'key',
      'cache_key',
      'monkey',
      'tokenizer',
      'max_tokens',
      'maxTokens',
      'zipcode',
      'author',
      'design',
    ],
    ...['token_limit', 'secretary', 'passwordless', 'model', 'thread_id', 'base_url', 'turkey', 'broken', ''],
  ];
  assert.deepEqual([...keys, ...words].filter(isKeyName), keys);
});

test('keys are masked at any depth, and what only tells of one stays', () => {
  const settings = {
    model: 'large',
    token: null,
    use_password: true,
    secret: { a: 1 },
    llm: { apiKey: 12_345, name: 'x' },
    list: [{ token: 't' }, 'token'],
  };
  assert.deepEqual(maskKeys(settings), {
    ...settings,
    secret: '***',
    llm: { apiKey: '***', name: 'x' },
    list: [{ token: '***' }, 'token'],
  });
  const { secret, llm, list } = settings;
  assert.deepEqual(membersWithKeys(settings), { secret, llm, list });
  assert.equal(membersWithKeys({ model: 'large', token: null }), undefined);
});

test.run();

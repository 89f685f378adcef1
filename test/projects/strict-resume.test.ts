import { suite } from '../support/suite.ts';
import { NEWEST_LINE } from './lines.ts';
import { addStrictTests } from './strict-tests.ts';

const test = suite('strict answers on the newest library line and the oldest');
addStrictTests(test, ['0.2', NEWEST_LINE]);
test.run();

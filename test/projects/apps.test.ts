import { suite } from '../support/suite.ts';
import { addAppTests } from './app-tests.ts';

const test = suite('projects with more than graphs');
addAppTests(test, 'usual');
test.run();

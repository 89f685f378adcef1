import { postgresContract } from '../../support/postgres-contract.ts';

postgresContract('the PostgreSQL log');

<?php
$pdo = new PDO('pgsql:host=' . getenv('PGHOST') . ';dbname=' . getenv('PGDATABASE'), getenv('PGUSER'));
$value = (int) getenv('VALUE');

function show(string $name, PDOStatement $rows): void
{
    foreach ($rows->fetchAll(PDO::FETCH_COLUMN) as $id) {
        echo "$name $id\n";
    }
}

// @block 1@

show('near', $near);
show('nearest', $nearest);
echo 'version ', PHP_VERSION, "\n";
echo 'si ', json_encode($si), "\n";
$number = @unsigned@;
echo "unsigned $number\n";
$signed = $pdo->prepare('SELECT @signed@');
$signed->execute([$number]);
echo 'signed ', $signed->fetchColumn(), "\n";

$bits = $pdo->prepare(preg_replace('/\$\d/', '?', getenv('BITS_QUERY')));
$bits->execute([getenv('BITS'), 20]);
show('bits', $bits);

if ((int) $number !== PHP_INT_MAX) {
    throw new Exception('an unsigned number became an int');
}

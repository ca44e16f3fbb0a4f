VirtualHost "localhost"
